"""Compare what two runs of a notebook show: numbers, texts, tables and figures.

Numbers that are written with a point or an exponent agree within rounding when they
differ by at most `RTOL` of the larger; whole numbers and all other text must be the
same. What a recorded value has beyond the digits shown is compared too, and so are the
places in frames to step through. A picture is compared byte by byte, then pixel by
pixel, whose colors agree within rounding when they differ by one step of 255; a drawing
(SVG) by the picture that comes with it, or as text where none does.
"""

from __future__ import annotations

import base64
import configparser
import functools
import io
import json
import math
import re
from dataclasses import dataclass

from mebnb.report.drawings import MIME
from mebnb.report.folders import without_folders
from mebnb.report.notebooks import CLONE, tags
from mebnb.report.recording import KEY
from mebnb.report.stepping import MIMETYPE as STEPS

RTOL = 1e-6
EQUAL = "equal"
ROUNDING = "within rounding"
DIFFERS = "differs"
IGNORED = "not comparable"
VERDICTS = (EQUAL, ROUNDING, DIFFERS, IGNORED)

INJECTED = "injected-parameters"
IGNORE = "nbval-ignore-output"
"""The tag of cells that show measured times."""

SANITIZE = CLONE / "tests" / "nbval_sanitize.cfg"
"""What no run repeats, such as addresses in memory: the rules that nbval has, too."""

NUMBER = re.compile(
    r"(?<![\w.])[-+\N{MINUS SIGN}]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?!\w|\.\d)"
)
PICTURES = ("image/png", "image/jpeg")


@dataclass(frozen=True)
class Compared:
    """One output of a cell in both runs.

    Attributes
    ----------
    cell : int
        Its number from 1, as in the clone's notebook.
    kind : str
        "text", "table" or "figure".
    verdict : str
        One of `VERDICTS`.
    note : str
        The first difference; or how a figure was found equal.
    """

    cell: int
    kind: str
    verdict: str
    note: str = ""


def compare_notebooks(archived, rerun):
    """Compare the outputs of two runs of the same cells, one by one.

    Parameters
    ----------
    archived, rerun : NotebookNode
        With the same cells; their sources are not compared.

    Returns
    -------
    list of Compared
    """
    compared = []
    pairs = zip(own_cells(archived), own_cells(rerun), strict=True)
    for number, (before, after) in enumerate(pairs, start=1):
        old, new = shown(before), shown(after)
        for at in range(max(len(old), len(new))):
            one = old[at] if at < len(old) else None
            two = new[at] if at < len(new) else None
            kind = _kind(one or two)
            if IGNORE in tags(before):
                verdict, note = IGNORED, "a measured time"
            else:
                verdict, note = compare_outputs(one, two)
            compared.append(Compared(number, kind, verdict, note))
    return compared


def own_cells(notebook):
    """The cells of the notebook itself, without the parameters that a run was given."""
    return [cell for cell in notebook.cells if INJECTED not in tags(cell)]


def shown(cell):
    """What a cell shows: each output as a mapping from its format to its content.

    Pieces of one stream are joined, as they may be cut anywhere.
    """
    streams, outputs = {}, []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            if output.name not in streams:
                streams[output.name] = {output.name: ""}
                outputs.append(streams[output.name])
            streams[output.name][output.name] += output.text
        elif output.output_type == "error":
            outputs.append({"error": f"{output.ename}: {output.evalue}"})
        else:
            recorded = output.metadata.get(KEY)
            outputs.append({**output.data, **({KEY: recorded} if recorded else {})})
    return outputs


def _kind(output):
    if any(name.startswith("image/") or name == STEPS for name in output):
        return "figure"
    return "table" if "<table" in output.get("text/html", "") else "text"


# --- one output ----------------------------------------------------------------------


def compare_outputs(old, new):
    """Compare one output of two runs, see `shown`; the worst of its formats counts.

    Returns
    -------
    verdict : str
    note : str
    """
    if old is None or new is None:
        return DIFFERS, f"only the {'rerun' if old is None else 'archive'} shows it"
    if set(old) != set(new):
        return DIFFERS, f"shown as {', '.join(new)}, before as {', '.join(old)}"
    # The same picture as PNG decides: each version of Matplotlib draws in other words.
    drawings = {MIME} if "image/png" in old else set()
    found = [_compare(n, old[n], new[n]) for n in sorted(set(old) - drawings)]
    return max(found, key=lambda pair: (VERDICTS.index(pair[0]), bool(pair[1])))


def _compare(name, old, new):
    if name in PICTURES:
        return compare_pictures(old, new)
    if name == KEY:
        return _compare_recorded(old, new)
    if name in ("stderr", "error"):
        old, new = without_folders(old), without_folders(new)
    return compare_texts(_as_text(old), _as_text(new))


def _as_text(content):
    """A format's content, which is text or JSON."""
    if isinstance(content, str):
        return content
    return json.dumps(content, sort_keys=True, ensure_ascii=False)


def compare_texts(old, new):
    """Compare two texts: their numbers as numbers, all between them as it stands.

    Returns
    -------
    verdict : str
    note : str
        The first number that is another, or the first words.

    Examples
    --------
    >>> compare_texts("radius 2.5000001 of 3 points", "radius 2.5 of 3 points")[0]
    'within rounding'
    >>> compare_texts("3 points", "4 points")
    ('differs', '3 -> 4')
    """
    old, new = _sanitized(old), _sanitized(new)
    if old == new:
        return EQUAL, ""
    words = [_words(text) for text in (old, new)]
    if words[0] != words[1]:
        return DIFFERS, _first_difference(*words)
    verdict, note = EQUAL, ""
    for one, two in zip(NUMBER.findall(old), NUMBER.findall(new), strict=True):
        if one == two:
            continue
        if not _agree(one, two):
            return DIFFERS, f"{one} -> {two}"
        verdict, note = ROUNDING, note or f"{one} -> {two}"
    return verdict, note


def _agree(one, two):
    """Whether two numbers, as written, agree within rounding."""
    if not all(re.search("[.eE]", text) for text in (one, two)):
        return False
    values = [float(text.replace("\N{MINUS SIGN}", "-")) for text in (one, two)]
    return math.isclose(*values, rel_tol=RTOL)


def _words(text):
    """What stands between numbers; how columns are padded follows from the numbers."""
    return [" ".join(part.split()) for part in NUMBER.split(text)]


def _first_difference(old, new):
    for one, two in zip(old, new):
        if one != two:
            return f"{one[:40]!r} -> {two[:40]!r}"
    return f"{len(old) - 1} numbers -> {len(new) - 1}"


def _compare_recorded(old, new):
    if not isinstance(old, dict) or set(old) != set(new):
        return DIFFERS, "other names are recorded"
    verdict, note = EQUAL, ""
    for name, one in old.items():
        two = new[name]
        if one == two:
            continue
        both_real = isinstance(one, float) and isinstance(two, float)
        if not (both_real and math.isclose(one, two, rel_tol=RTOL)):
            return DIFFERS, f"{name}: {one} -> {two}"
        verdict, note = ROUNDING, note or f"{name}: {one} -> {two}"
    return verdict, note


def compare_pictures(old, new):
    """Compare two pictures in base64: byte by byte, then pixel by pixel.

    Returns
    -------
    verdict : str
        Within rounding where no color of a pixel is off by more than one step: that is
        how a line's soft edge follows the last bit of a number.
    note : str
        "same bytes" or "same pixels"; else how many pixels are others.
    """
    try:
        old, new = (base64.b64decode(text) for text in (old, new))
    except ValueError:
        return DIFFERS, "no picture"
    if old == new:
        return EQUAL, "same bytes"
    one, two = _pixels(old), _pixels(new)
    if one is None or two is None or one.shape != two.shape:
        return DIFFERS, "another size, or no picture"
    off = abs(one - two).max(axis=-1)
    if not off.any():
        return EQUAL, "same pixels"
    verdict = ROUNDING if off.max() == 1 else DIFFERS
    return verdict, f"{(off > 0).mean():.2%} of the pixels"


def _pixels(content):
    """The picture as integers (height, width, 4), None where it cannot be read."""
    import numpy as np
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=("PNG", "JPEG")) as image:
            return np.asarray(image.convert("RGBA"), np.int16)
    except Exception:  # Pillow raises many kinds for a spoiled or huge picture
        return None


# --- what no run repeats -------------------------------------------------------------


def _sanitized(text):
    for pattern, replacement in _rules():
        text = pattern.sub(replacement, text)
    return text


@functools.cache
def _rules():
    rules = configparser.RawConfigParser()
    rules.read(SANITIZE, encoding="utf-8")
    sections = [rules[name] for name in rules.sections()]
    return [(re.compile(rule["regex"]), rule["replace"]) for rule in sections]
