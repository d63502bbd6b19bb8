"""The parameters of notebooks: which there are, and whether given values fit them.

A parameter is a line of the cell tagged `parameters`, as papermill reads it:
`name: type = default  # what it means`.
"""

from __future__ import annotations

import ast
import json
import logging
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

from mebnb.report import ReportError
from mebnb.report.notebooks import read_notebook, tags

SCALARS = {"int": "an int", "float": "a float", "str": "a str", "bool": "a bool"}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a notebook.

    Attributes
    ----------
    name : str
    kind : str
        "int", "float", "str", "bool", "list", "list[...]", "Optional[...]", or ""
        where neither an annotation nor the default tells.
    default : object
        Its value, or its source text where that is not a literal.
    help : str
        The comment behind it.
    """

    name: str
    kind: str
    default: object
    help: str

    def __str__(self):
        kind = f": {self.kind}" if self.kind else ""
        meaning = f"  # {self.help}" if self.help else ""
        return f"{self.name}{kind} = {self.default!r}{meaning}"


class Mismatch(Exception):
    """A value that a parameter cannot take; the message says what it must be."""


# --- what a notebook has -------------------------------------------------------------


def notebook_parameters(notebook):
    """The parameters of a notebook, name -> Parameter, in the order of its cell."""
    from papermill.translators import PythonTranslator

    cell = next((c for c in notebook.cells if "parameters" in tags(c)), None)
    if cell is None:
        return {}
    # papermill logs the lines that it cannot read; they are no parameters then.
    logging.getLogger("papermill").setLevel(logging.ERROR)
    found = {}
    for line in PythonTranslator.inspect(cell):
        default = _literal(line.default)
        kind = line.inferred_type_name.replace(" ", "")
        if kind == "None":
            kind = _kind_of(default)
        found[line.name] = Parameter(line.name, kind, default, line.help)
    return found


def _literal(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _kind_of(value):
    name = type(value).__name__
    return name if name in SCALARS or name == "list" else ""


def given_parameters(notebook):
    """The values that papermill put into an executed notebook, name -> value."""
    return dict(notebook.metadata.get("papermill", {}).get("parameters", {}))


def changed_parameters(notebook):
    """The given values that differ from the defaults, name -> value."""
    known = notebook_parameters(notebook)
    return {
        name: value
        for name, value in given_parameters(notebook).items()
        if name not in known or known[name].default != value
    }


# --- what is asked -------------------------------------------------------------------


def assign_parameters(paths, given):
    """Check given parameters and hand each to the notebooks that have it.

    Parameters
    ----------
    paths : list of Path
        The chosen notebooks.
    given : iterable of (str, object)
        Names and values; a str as typed at a command line, anything else as is.
        Where a name comes twice the later value holds, as with papermill.

    Returns
    -------
    dict
        path -> {name: value}

    Raises
    ------
    ReportError
        For a name that none of the notebooks has (the message lists the known
        ones) and for a value of the wrong type or one that is not finite.
    """
    known = {path: notebook_parameters(read_notebook(path)) for path in paths}
    assigned = {path: {} for path in paths}
    for name, value in dict(given).items():
        owners = [path for path in paths if name in known[path]]
        if not owners:
            raise ReportError(_unknown(name, known))
        for path in owners:
            parameter = known[path][name]
            try:
                assigned[path][name] = fit(value, parameter.kind)
            except Mismatch as expected:
                meaning = f" ({parameter.help})" if parameter.help else ""
                raise ReportError(
                    f"parameter {name} of {path.stem}{meaning} must be {expected}, "
                    f"found {value!r}"
                ) from None
    return assigned


def files_in_full(values):
    """Name files by their full path, for a run in another folder than the caller's.

    Parameters
    ----------
    values : dict
        Checked parameters.

    Returns
    -------
    dict
        The same, but for a `path` that names a file of the caller's folder.
    """
    return {
        name: str(Path(value).resolve()) if is_file(name, value) else value
        for name, value in values.items()
    }


def is_file(name, value):
    """Whether a parameter is a path, by its name, and names a file."""
    if not _names_file(name):
        return False
    try:
        return isinstance(value, str) and value != "" and Path(value).is_file()
    except (OSError, ValueError):  # a text that is too long, or no path at all
        return False


def own_files(values):
    """The parameters that name a file, whether it is here or not: name -> value."""
    return {
        name: value for name, value in values.items() if _names_file(name) and value
    }


def _names_file(name):
    return name == "path" or name.endswith("_path")


def read_parameter_file(path):
    """Parameters from a YAML or JSON file: a mapping of names to values.

    Raises
    ------
    ReportError
        When there is no such file or it holds something else.
    """
    import yaml

    try:
        values = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ReportError(f"cannot read {path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise ReportError(f"{path} is not YAML") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ReportError(f"{path} must map names to values, found {values!r}")
    return values


def _unknown(name, known):
    names = list(dict.fromkeys(n for parameters in known.values() for n in parameters))
    if not names:
        return f"unknown parameter {name!r}; the chosen notebooks have none"
    if len(known) == 1:
        owner = next(iter(known)).stem
        return f"unknown parameter {name!r}; {owner} has {', '.join(names)}"
    return f"unknown parameter {name!r}; the chosen notebooks have {', '.join(names)}"


def fit(value, kind):
    """Return `value` as the type that `kind` names.

    Text is read as papermill reads its command line, lists as JSON; a number in
    text is also a number (YAML takes 1e-6 for text). NumPy scalars and arrays,
    tuples and paths become what papermill can write.

    Raises
    ------
    Mismatch
        When it does not fit; the message says what the value must be.
    """
    optional = re.fullmatch(r"Optional\[(.*)\]", kind)
    if optional:
        if value is None or value in ("None", "null"):
            return None
        try:
            return fit(value, optional[1])
        except Mismatch as expected:
            raise Mismatch(f"{expected} or None") from None
    value = _plain(value)
    if kind.split("[")[0] in ("list", "List"):
        return _fit_list(value, kind)
    if kind in SCALARS:
        return _fit_scalar(value, kind)
    return _finite(_typed(value) if isinstance(value, str) else value)


def _fit_list(value, kind):
    item = kind.partition("[")[2].removesuffix("]")
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = None
    if not isinstance(value, list):
        raise Mismatch(f"a {kind} written as JSON, such as {_example(item)}")
    try:
        return [fit(entry, item) for entry in value]
    except Mismatch as expected:
        raise Mismatch(f"a {kind}, each entry {expected}") from None


def _example(item):
    return {"str": '\'["a", "b"]\'', "int": "'[1, 2]'"}.get(item, "'[0.1, 0.01]'")


def _fit_scalar(value, kind):
    if kind == "str":
        if isinstance(value, str):
            return value
        raise Mismatch(SCALARS[kind])
    if isinstance(value, str):
        value = _typed(value)
        if kind == "bool" and value in ("true", "false"):
            return value == "true"
    is_bool = isinstance(value, bool)
    if (kind == "bool" and is_bool) or (kind == "int" and type(value) is int):
        return value
    if kind == "float" and isinstance(value, (int, float)) and not is_bool:
        return float(_finite(value))
    raise Mismatch(SCALARS[kind])


def _typed(text):
    """Text as papermill's `-p` reads it."""
    if text in ("True", "False", "None"):
        return ast.literal_eval(text)
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return text


def _finite(value):
    # NaN and infinity are no JSON: the executed notebook could not be opened again.
    numbers = value if isinstance(value, list) else [value]
    for number in numbers:
        try:
            if isinstance(number, (int, float)) and not math.isfinite(number):
                raise Mismatch("finite")
        except OverflowError:
            raise Mismatch("finite as a float") from None
    return value


def _plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value
