"""Messages without the folders of the machine that they come from."""

from __future__ import annotations

import functools
import os
import re
import site
import sysconfig
from pathlib import Path

from mebnb.report.notebooks import CLONE

COLOUR = r"\x1b\[[0-9;]*m"
ROOT = r"(?:~|[A-Za-z]:)?[/\\]"
NAME = r"[^\s/\\:\"'<>|*?()\x1b]+"
FOLDERS = re.compile(
    rf"""
      (?P<line>File\ (?:{COLOUR})*) {ROOT} [^\n\x1b"':]*[/\\]      # of a traceback
    | (?P<quote>["']) {ROOT} [^\n"']*[/\\] (?=[^\n"'/\\]+(?P=quote))  # in quotes
    | (?:(?P<colour>{COLOUR})|(?<![\w.)\]:/\\<~-])) {ROOT} (?:{NAME}[/\\])+
    """,
    re.VERBOSE,
)


def without_folders(text):
    """Text in which a file is named as from its package on, or by its name alone.

    Parameters
    ----------
    text : str
        Such as a line of a traceback or a warning, also with colours of a terminal.

    Returns
    -------
    str

    Examples
    --------
    >>> without_folders("File /home/me/here/code.py:3, in f(x)")
    'File code.py:3, in f(x)'
    """
    for folder in _homes_of_packages():
        text = text.replace(folder, "")
    return FOLDERS.sub(lambda m: m["line"] or m["quote"] or m["colour"] or "", text)


@functools.cache
def _homes_of_packages():
    """Folders whose files are known by what comes after, the longest first."""
    library = sysconfig.get_paths()
    folders = {str(CLONE), library["purelib"], library["platlib"], library["stdlib"]}
    folders |= {*site.getsitepackages(), site.getusersitepackages()}
    home = str(Path.home())  # which IPython abbreviates
    folders |= {
        "~" + f.removeprefix(home) for f in folders if f.startswith(home + os.sep)
    }
    return [folder + os.sep for folder in sorted(folders, key=len, reverse=True)]
