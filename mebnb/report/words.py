r"""Words that come from data and parameters, shown as the words that they are.

A column may be called `<img src=x>`, `[a](b)` or `$\frac{1}{$`. Whoever shows such
words in Markdown or HTML passes them through here first: then neither a browser nor
Markdown nor the typesetting of formulas, in JupyterLab and in a page, finds anything
in them to act on.
"""

from __future__ import annotations

import math
import re
import unicodedata

# All marks of ASCII but those that close a word of a sentence: these mean nothing.
_MARK = re.compile(r"(?<=[^\W\d_])[.,;:](?=\s|$)|([!-/:-@\[-`{-~])")
_OPENS_FORMULA = re.compile(r"[$\\]")
_TURNS_TEXT_AROUND = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_UNPRINTABLE = ("Cc", "Cs")
_BEGINS_FORMULA = ("=", "+", "-", "@", "|", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)*([eE][+-]?\d+)?")
_FENCE = re.compile(r"`{3,}")
# Names that functions give to columns and facts, as a reader of a table says them.
_SPOKEN = {
    "active_set_size": "active set size",
    "auroc": "AUROC",
    "clears_at": "clears at",
    "f1": "F1",
    "f1_pct": "F1 in %",
    "false_alarms": "false alarms",
    "fn": "anomalies missed",
    "fp": "nominal called",
    "load_average_at_end": "load average at the end",
    "load_average_at_start": "load average at the start",
    "memory_gib": "memory in GiB",
    "most_false": "most false",
    "most_false_share": "most false, share",
    "p_value": "p-value",
    "recall_at_false_alarms": "recall at 5 % false alarms",
    "recall_pct": "recall in %",
    "recall_test": "recall, test",
    "recall_train": "recall, training",
}


def escaped(text):
    r"""Words as Markdown and as HTML that shows them and does nothing else.

    Parameters
    ----------
    text : object
        Its `str` is shown, on one line.

    Returns
    -------
    str
        For a place between tags, not within one.

    Examples
    --------
    >>> escaped("Two *odd* rows.")
    'Two &#42;odd&#42; rows.'
    >>> escaped("$x$")
    '<span>&#36;</span>x<span>&#36;</span>'
    """
    line = " ".join("".join(map(_printable, str(text))).split())
    return _MARK.sub(lambda mark: _entity(mark[1]) if mark[1] else mark[0], line)


def counted(count, word):
    """So many of what a word names.

    Parameters
    ----------
    count : int
    word : str
        As it is said of one.

    Returns
    -------
    str

    Examples
    --------
    >>> counted(1, "point"), counted(2, "point")
    ('1 point', '2 points')
    """
    return f"{count} {word}{'s' * (count != 1)}"


def three_digits(value):
    """A measured number with three digits that count, and no exponent.

    Parameters
    ----------
    value : float

    Returns
    -------
    str

    Examples
    --------
    >>> three_digits(23614.0), three_digits(0.24512), three_digits(2.0)
    ('23,600', '0.245', '2.00')
    """
    digits = 2 - math.floor(math.log10(abs(value))) if value else 2
    return f"{round(value, digits):,.{max(digits, 0)}f}"


def printable(text):
    r"""Words for a terminal, which nothing in them steers.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        With a sign in place of each character that cannot be printed; lines stay.

    Examples
    --------
    >>> printable("\x1b[31mred\nand plain") == "\ufffd[31mred\nand plain"
    True
    """
    return "".join(c if c.isprintable() or _parts(c) else "\ufffd" for c in text)


def without_formulas(html):
    r"""HTML in which no `$` and no backslash begins a formula.

    Parameters
    ----------
    html : str
        Whose tags hold neither, such as a table of pandas.

    Returns
    -------
    str

    Examples
    --------
    >>> without_formulas("<td>$5</td>")
    '<td><span>&#36;</span>5</td>'
    """
    return _OPENS_FORMULA.sub(lambda mark: _entity(mark[0]), html)


def code_block(code, language=""):
    """Code as Markdown, fenced so that nothing in it ends the fence.

    Parameters
    ----------
    code : str
    language : str

    Returns
    -------
    str
    """
    longest = max(map(len, _FENCE.findall(code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def readable(table):
    """A table of ours with words where functions give names of code.

    Parameters
    ----------
    table : pandas.DataFrame
        Its columns and rows may have several levels. A word that is no such name stays.

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> import pandas as pd
    >>> print(readable(pd.DataFrame({"auroc": [0.9], "p_value": [0.01]})))
       AUROC  p-value
    0    0.9     0.01
    """
    spoken = table.rename(columns=_SPOKEN, index=_SPOKEN)
    names = {"index": _axis_names(table.index), "columns": _axis_names(table.columns)}
    return spoken.rename_axis(**names)


def _axis_names(axis):
    return [_SPOKEN.get(name, name) for name in axis.names]


def for_spreadsheets(frame):
    """A table whose texts a spreadsheet reads as texts, not as formulas.

    A text that would begin a formula gets an apostrophe before it, as OWASP advises
    (https://owasp.org/www-community/attacks/CSV_Injection).

    Parameters
    ----------
    frame : pandas.DataFrame
        Its numbers stay what they are.

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> import pandas as pd
    >>> print(for_spreadsheets(pd.DataFrame({"name": ["=1+1", "-3", "a"]})))
        name
    0  '=1+1
    1     -3
    2      a
    """
    return frame.rename(columns=_as_text).map(_as_text)


def _as_text(entry):
    begins = isinstance(entry, str) and entry.lstrip()[:1] in _BEGINS_FORMULA
    return f"'{entry}" if begins and not _NUMBER.fullmatch(entry) else entry


def _entity(mark):
    entity = f"&#{ord(mark)};"
    # A formula is looked for in a stretch of text, and an element ends the stretch.
    return f"<span>{entity}</span>" if _OPENS_FORMULA.match(mark) else entity


def _parts(character):
    """Whether it stands between words or lines and does nothing else."""
    return character in "\n\t" or unicodedata.category(character) == "Zs"


def _printable(character):
    if character.isspace():
        return character
    hidden = unicodedata.category(character) in _UNPRINTABLE
    return "\ufffd" if hidden or character in _TURNS_TEXT_AROUND else character
