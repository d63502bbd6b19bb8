"""Mutants of a module: one small fault each, made by Cosmic Ray's operators."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.operators import (
    binary_operator_replacement,
    boolean_replacer,
    break_continue,
    comparison_operator_replacement,
    number_replacer,
    unary_operator_replacement,
    zero_iteration_for_loop,
)

# Every operator by one or two others: all pairs would make ten times the mutants, most
# of which fail at once.
SWAPS = re.compile(
    r"ReplaceBinaryOperator_(Add_Sub|Sub_Add|Mul_Div|Div_Mul|FloorDiv_Mul|Mod_Mul"
    r"|Pow_Mul|BitOr_BitAnd|BitAnd_BitOr)"
    r"|ReplaceComparisonOperator_(Eq_NotEq|NotEq_Eq|Lt_LtE|Lt_GtE|LtE_Lt|LtE_Gt|Gt_GtE"
    r"|Gt_LtE|GtE_Gt|GtE_Lt|Is_IsNot|IsNot_Is)"
    r"|ReplaceUnaryOperator_(Delete_USub|Delete_Not|Delete_Invert)"
)
OPERATORS = [
    operator()
    for operator in (
        *binary_operator_replacement.operators(),
        *comparison_operator_replacement.operators(),
        *unary_operator_replacement.operators(),
    )
    if SWAPS.fullmatch(operator.__name__)
] + [
    boolean_replacer.AddNot(),
    boolean_replacer.ReplaceTrueWithFalse(),
    boolean_replacer.ReplaceFalseWithTrue(),
    boolean_replacer.ReplaceAndWithOr(),
    boolean_replacer.ReplaceOrWithAnd(),
    break_continue.ReplaceBreakWithContinue(),
    break_continue.ReplaceContinueWithBreak(),
    number_replacer.NumberReplacer(),
    zero_iteration_for_loop.ZeroIterationForLoop(),
]
# Annotations and messages are not what a test should hold; a decorator of Numba says
# how a function is compiled, and the runs here do not compile.
SKIPPED = {"raise_stmt", "decorator", "tfpdef", "fstring_format_spec"}


@dataclass(frozen=True)
class Mutant:
    """A module's source with one fault, and the line it stands in."""

    module: str
    line: int
    before: str
    after: str
    source: str

    @property
    def key(self):
        """What stays the same when other lines of the module change."""
        return self.module, self.before, self.after

    def in_share(self, every):
        """Whether the mutant is in the sample of one in `every`, the same each time."""
        digest = hashlib.sha256("\n".join(self.key).encode()).digest()
        return int.from_bytes(digest[:4], "big") % every == 0


def mutants_of(module, source):
    """Every mutant of a source, in the order of its lines.

    Parameters
    ----------
    module : str
        Dotted name.
    source : str

    Returns
    -------
    list of Mutant
    """
    tree = get_ast(source)
    nodes = [node for node in ast_nodes(tree) if not _is_skipped(node)]
    found = {}
    for operator in OPERATORS:
        for node in nodes:
            positions = list(operator.mutation_positions(node))
            for index, ((line, _), _) in enumerate(positions):
                found.setdefault(_mutated(tree, operator, node, index), line)
    lines = source.splitlines()
    mutants = []
    for mutated, line in found.items():
        after = _changed(lines, mutated.splitlines(), line)
        if after is not None:
            before = lines[line - 1].strip()
            mutants.append(Mutant(module, line, before, after, mutated))
    return sorted(mutants, key=lambda mutant: (mutant.line, mutant.after))


def _is_skipped(node):
    while node is not None:
        above = node.parent
        if (
            node.type in SKIPPED
            or _is_strict(node)
            or (above is not None and _is_annotation(node, above))
        ):
            return True
        node = above
    return False


def _is_strict(node):
    """Whether this is zip's strict=True: a guard against what no caller does."""
    return node.type == "argument" and node.get_code().strip() == "strict=True"


def _is_annotation(node, above):
    if above.type == "annassign":
        return above.children[1] is node
    return above.type == "funcdef" and above.children[-3] is node


def _mutated(tree, operator, node, index):
    """The source with one change; the tree is left as it was."""
    leaf = node if hasattr(node, "value") else node.children[0]
    value = getattr(leaf, "value", None)
    children = list(getattr(node, "children", ()))
    new = operator.mutate(node, index)
    siblings = node.parent.children
    at = next(at for at, sibling in enumerate(siblings) if sibling is node)
    siblings[at] = new
    code = tree.get_code()
    siblings[at] = node
    if value is not None:
        leaf.value = value
    if children:
        node.children[:] = children
    return code


def _changed(lines, mutated, line):
    """The line as the mutant has it, or None when nothing is changed."""
    differing = [b for a, b in zip(lines, mutated) if a != b]
    if len(lines) != len(mutated):
        return mutated[line - 1].strip()
    return differing[0].strip() if differing else None
