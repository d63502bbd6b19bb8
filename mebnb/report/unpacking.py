"""Read an archive that anybody may have made: nothing is unpacked, nothing is run.

Members are read one at a time into memory, within limits, and each is held to its hash
in the metadata. A name is only ever looked up, never opened.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
import zipfile
import zlib
from pathlib import Path

import nbformat

from mebnb.report import ReportError
from mebnb.report.archiving import METADATA
from mebnb.report.making import KEPT
from mebnb.report.notebooks import parse_notebook

MOST_MEMBERS = 1000
MOST_BYTES = 64 * 2**20  # of one member; a page has 3 MB at most
MOST_BYTES_IN_ALL = 512 * 2**20
NAME = re.compile(
    r"(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*"
)
NOTEBOOK = re.compile(rf"{KEPT}/([^/]+)\.ipynb")
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read_archive(file):
    """The executed notebooks of an archive whose members are as its metadata says.

    Parameters
    ----------
    file : path

    Returns
    -------
    dict
        name -> NotebookNode, in reading order.

    Raises
    ------
    ReportError
        For a file that is no such archive: members that lead elsewhere, are links, are
        too many or too large, are not in the metadata or have other hashes there.
    """
    try:
        if Path(file).stat().st_size > MOST_BYTES_IN_ALL:
            raise ReportError(f"{file} has more than {MOST_BYTES_IN_ALL >> 20} MiB")
        with zipfile.ZipFile(file) as archive:
            return _notebooks(archive, file)
    except OSError as error:
        raise ReportError(f"cannot read {file}: {error.strerror or error}") from None
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        UnicodeDecodeError,  # of a member's name
    ):
        raise ReportError(f"{file} is not a zip file, or a spoiled one") from None


def _notebooks(archive, file):
    members = archive.infolist()
    _check_members(members, file)
    hashes = _hashes(archive, file)
    if {member.filename for member in members} != {*hashes, METADATA}:
        raise ReportError(f"{file}: other files than its {METADATA} names")
    notebooks = {}
    for name, expected in sorted(hashes.items()):
        content = archive.read(name)
        if hashlib.sha256(content).hexdigest() != expected:
            raise ReportError(f"{file}: {name} has another sha256 than {METADATA} says")
        match = NOTEBOOK.fullmatch(name)
        if match:
            notebooks[match[1]] = _notebook(content, f"{file}: {name}")
    if not notebooks:
        raise ReportError(f"{file}: no executed notebook in it")
    return notebooks


def _notebook(content, what):
    """A notebook that is one in every part, also in those that a run notes."""
    notebook = parse_notebook(content, what)
    try:
        nbformat.validate(notebook)
    except Exception:  # such as a recursion that is too deep
        raise ReportError(f"{what} is not a Jupyter notebook") from None
    noted = notebook.metadata
    for place, key in (("papermill", "parameters"), ("mebnb", "provenance")):
        about = noted.get(place)
        if not (isinstance(about, dict) and isinstance(about.get(key), dict)):
            raise ReportError(f"{what} does not say how it was run")
    return notebook


def _check_members(members, file):
    """Refuse what a report never has, before any of it is read."""
    if len(members) > MOST_MEMBERS:
        raise ReportError(f"{file}: {len(members)} members, at most {MOST_MEMBERS}")
    names = [member.filename.lower() for member in members]
    for member in members:
        fault = _fault(member, names)
        if fault:
            raise ReportError(f"{file}: member {ascii(member.filename)[:80]} {fault}")
    if sum(member.file_size for member in members) > MOST_BYTES_IN_ALL:
        raise ReportError(f"{file}: more than {MOST_BYTES_IN_ALL >> 20} MiB unpacked")


def _fault(member, names):
    kind = stat.S_IFMT(member.external_attr >> 16)
    if not NAME.fullmatch(member.filename):
        return "is no name of a file within the archive"
    if kind not in (0, stat.S_IFREG):
        return "is a link or another thing that is no file"
    if names.count(member.filename.lower()) > 1:
        return "is there twice"
    if member.flag_bits & 0x1 or member.compress_type not in METHODS:
        return "is encrypted or packed in a way that is not read"
    if member.file_size > MOST_BYTES:
        return f"has more than {MOST_BYTES >> 20} MiB"
    return ""


def _hashes(archive, file):
    """The files that the metadata names: name -> sha256."""
    try:
        graph = json.loads(archive.read(METADATA))["@graph"]
        entities = {entity["@id"]: entity for entity in graph}
        parts = [part["@id"] for part in entities["./"]["hasPart"]]
        return {name: str(entities[name]["sha256"]) for name in parts}
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ReportError(f"{file} has no {METADATA} of a report") from None
