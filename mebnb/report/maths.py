r"""LaTeX to MathML in a finished page: a browser needs neither script nor network.

Formulas stand in the text of a page as JupyterLab knows them: `$...$`, `$$...$$`,
`\(...\)`, `\[...\]`, `\begin{...}...\end{...}` and a bare `\eqref{...}`. Equations are
numbered through the whole page; `\eqref` links to a `\label` of any cell.
"""

from __future__ import annotations

import re
from collections import Counter

from bs4 import BeautifulSoup, NavigableString

FORMULA = re.compile(
    r"""
      (?<!\\)\$\$(?P<dollars>.+?)(?<!\\)\$\$
    | \\\[(?P<brackets>.+?)\\\]
    | (?P<environment>\\begin\{(?P<name>[a-zA-Z]+\*?)\}.*?\\end\{(?P=name)\})
    | (?<![\\$])\$(?P<dollar>[^$]+?)(?<!\\)\$(?!\$)
    | \\\((?P<parentheses>.+?)\\\)
    | (?P<reference>\\eqref\{[^}]*\})
    """,
    re.VERBOSE | re.DOTALL,
)
VERBATIM = ("code", "pre", "script", "style", "textarea", "math", "svg")
UNRESOLVED = "(??)"
PUNCTUATION = re.compile(r"[.,;:!?)\]]+")
OPENING = re.compile(r"[(\[]+$")
RELATIONS = "=≤≥<>←→⇒⟹⟺∈⊂≈"
SUMS = "+−"
FENCES = dict.fromkeys("([{⟨", 1) | dict.fromkeys(")]}⟩", -1)
BARS = ("‖", "|")
TALL = ["mfrac", "munder", "mover", "munderover", "mtable"]
FACTORY = BeautifulSoup("", "html.parser")


def split_formulas(text):
    r"""Split text into plain pieces and formulas.

    Returns
    -------
    list of (str, bool or None)
        LaTeX with True for a displayed formula and False for one in a line;
        plain text with None.

    Examples
    --------
    >>> split_formulas(r"Let $x > 0$.")
    [('Let ', None), ('x > 0', False), ('.', None)]
    """
    pieces, end = [], 0
    for match in FORMULA.finditer(text):
        pieces.append((text[end : match.start()], None))
        parts = match.groupdict()
        inline = parts["dollar"] or parts["parentheses"] or parts["reference"]
        display = parts["dollars"] or parts["brackets"] or parts["environment"]
        pieces.append((inline.strip(), False) if inline else (display.strip(), True))
        end = match.end()
    pieces.append((text[end:], None))
    return [(piece, kind) for piece, kind in pieces if piece or kind is not None]


def typeset(soup, cell_of):
    """Replace every formula of a page by MathML, in place.

    Parameters
    ----------
    soup : bs4.BeautifulSoup
    cell_of : callable
        element -> text that names its cell, for the messages.

    Returns
    -------
    list of str
        What is wrong: formulas that cannot be read, references to no label, labels
        that stand twice. A formula that cannot be read stays as its source.
    """
    found = []  # (text node, its pieces)
    for node in list(soup.find_all(string=lambda text: "$" in text or "\\" in text)):
        if type(node) is NavigableString and not node.find_parent(VERBATIM):
            pieces = split_formulas(str(node))
            if any(display is not None for _, display in pieces):
                found.append((node, pieces))

    formulas = [
        (latex, display, node)
        for node, pieces in found
        for latex, display in pieces
        if display is not None
    ]
    converted = _convert([(latex, display) for latex, display, _ in formulas])
    problems = []
    for (latex, _, node), result in zip(formulas, converted, strict=True):
        trouble = _trouble(latex, result)
        if trouble:
            problems.append(f"{cell_of(node)}: {trouble}")
    problems += _double_labels(formulas, cell_of)

    elements = _parse(converted)
    for node, pieces in found:
        node.replace_with(*_keep_punctuation([_place(p, elements) for p in pieces]))
    return problems


def to_mathml(text):
    """Text with formulas as an HTML fragment; for titles and sentences."""
    soup = BeautifulSoup(text, "html.parser")
    typeset(soup, lambda node: "")
    return str(soup)


def let_scroll(formula):
    """Let a long formula within a line go on below, and scroll where it cannot."""
    _let_break(formula.math)
    formula.attrs.update({"class": "formula long", "tabindex": "0"})
    formula.attrs.update({"role": "group", "aria-label": "Formula"})


def _convert(snippets):
    from math_core import LatexToMathML

    converter = LatexToMathML(fancy_error=False, continue_on_error=True)
    # One batch for the page: only so do references find equations that come later.
    return converter.convert_all([(_as_numbered(*snippet)) for snippet in snippets])


def _as_numbered(latex, display):
    r"""`$$ x \tag{3} $$` is an equation with that number, as MathJax has it."""
    if display and r"\tag" in latex and not latex.startswith(r"\begin"):
        latex = rf"\begin{{equation}}{latex}\end{{equation}}"
    return latex, display


def _trouble(latex, result):
    if "math-core-error" in result:
        # A span for a formula in the text, a paragraph for one on its own.
        soup = BeautifulSoup(result, "html.parser")
        title = soup.find(class_="math-core-error")["title"]
        reason = re.sub(r"^(input\d+:)?\d+: ", "", title).rstrip(".")
        return f"cannot typeset {_short(latex)}: {reason}"
    if UNRESOLVED in result:
        labels = ", ".join(re.findall(r"\\eqref\{(.*?)\}", latex))
        return f"reference to an unknown equation: {labels}"
    return None


def _double_labels(formulas, cell_of):
    labels = [
        (label, node)
        for latex, _, node in formulas
        for label in re.findall(r"\\label\{(.*?)\}", latex)
    ]
    counts = Counter(label for label, _ in labels)
    return [
        f"{cell_of(node)}: the label {label} stands {counts[label]} times"
        for label, node in dict(labels).items()
        if counts[label] > 1
    ]


def _short(latex):
    flat = " ".join(latex.split())
    return flat if len(flat) <= 60 else flat[:57] + "..."


def _parse(converted):
    """The converted formulas as elements, one after the other."""
    joined = "".join(f"<i>{result}</i>" for result in converted)
    soup = BeautifulSoup(joined, "html.parser")
    yield from [holder.contents[0].extract() for holder in soup("i", recursive=False)]


def _keep_punctuation(places):
    """Keep a bracket, full stop or comma on the line of the formula that it stands by."""
    for at, text in enumerate(places[1:], start=1):
        formula = places[at - 1]
        after = PUNCTUATION.match(text) if isinstance(text, str) else None
        if after and _is_formula(formula):
            formula.append(NavigableString(after[0]))
            places[at] = NavigableString(text[after.end() :])
    for at, text in enumerate(places[:-1]):
        before = OPENING.search(text) if isinstance(text, str) else None
        if before and _is_formula(places[at + 1]):
            places[at + 1].insert(0, NavigableString(before[0]))
            places[at] = NavigableString(text[: before.start()])
    return places


def _is_formula(place):
    return "formula" in getattr(place, "attrs", {}).get("class", "")


def _let_break(math):
    """Cut a formula where a line may end: each part is a `math` of its own.

    A line ends before a relation or a sum that stands in no brackets, or after a comma.
    """
    parts, depth, barred, ended = [[]], 0, False, ""
    for child in math.contents[:]:
        if depth == 0 and _may_end(ended, child):
            parts.append([])
            if child.name == "mo":
                child["form"] = "infix"  # at the front it would be taken for a sign
        parts[-1].append(child)
        sign = _sign(child)
        turn = (-1 if barred else 1) if sign in BARS else FENCES.get(sign, 0)
        barred ^= sign in BARS
        depth += turn
        ended = sign if sign and turn >= 0 else "a term"
    for part in reversed(parts[1:]):
        following = FACTORY.new_tag("math")
        following.extend([child.extract() for child in part])
        math.insert_after(following)


def _may_end(ended, after):
    """Whether a line may end before an element, after this sign or a term."""
    binary = after.name == "mo" and after.get_text() in RELATIONS + SUMS
    return ended == "," or (ended == "a term" and binary)


def _sign(element):
    """The operator that an element is, or that it gives a power; else none."""
    if element.name in ("msup", "msub", "msubsup"):
        element = element.find(True)
    return element.get_text() if element.name == "mo" else ""


def _keep_apart(bar):
    """A little room between the bars of a norm and what is within, which sets their size."""
    bar.attrs.update({"lspace": "0.12em", "rspace": "0.12em"})
    if bar.parent.name == "mrow" and not bar.parent.find(TALL):
        bar["stretchy"] = "false"


def _place(piece, elements):
    text, display = piece
    if display is None:
        return NavigableString(text)
    element = next(elements)
    # Within a formula nothing can be reached: a reference stands outside, or is text.
    anchor = element.find("a")
    if anchor is not None:
        alone = element.get_text() == anchor.get_text() != UNRESOLVED
        if alone and display is False:
            return anchor.extract()
        for anchor in element("a"):
            anchor.unwrap()
    for fence in element.find_all("mo", minsize=True):  # \big and its like
        fence.attrs.update({"stretchy": "true", "symmetric": "true"})
    for bar in element.find_all("mo", string="‖"):
        _keep_apart(bar)
    holder = FACTORY.new_tag("span")
    if element.name != "math":
        holder["class"] = "formula-error"
        holder["title"] = element.get("title", "")
    elif display:
        # A long equation scrolls by itself, also for who has only a keyboard.
        holder["class"], holder["tabindex"] = "equation", "0"
        holder["role"], holder["aria-label"] = "group", "Equation"
    else:
        holder["class"] = "formula"
    holder.append(element)
    if holder["class"] == "formula" and len(text) > 60:
        let_scroll(holder)
    return holder
