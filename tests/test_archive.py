"""A report in one file: what goes in, what is refused, and the rerun's comparison."""

import copy
import hashlib
import io
import json
import platform
import shutil
import stat
import zipfile

import nbformat
import pytest
from PIL import Image

from mebnb import cli
from mebnb.report import ReportError, comparing, running, unpacking, verifying
from mebnb.report import notebooks as notebooks_room
from mebnb.report.archiving import METADATA, write_archive
from mebnb.report.comparing import compare_notebooks, compare_outputs, compare_texts
from mebnb.report.making import export_stored, make_report
from mebnb.report.notebooks import parse_notebook, read_notebook, write_notebook
from mebnb.report.parameters import assign_parameters
from mebnb.report.stepping import MIMETYPE as STEPS
from mebnb.report.stepping import Dots, Frame, step_through
from mebnb.report.unpacking import read_archive
from mebnb.report.verifying import verify_archive

PARAMETERS = "eps: float = 0.5  # tolerance\npath: str = ''  # a table"
FIGURE = """\
import matplotlib.pyplot as plt
from mebnb.plots import show
from mebnb.report import record

fig, ax = plt.subplots(figsize=(2, 2))
ax.plot([1, eps])
show(fig, alt="A line.")
record(radius=1 / (3 + eps), name="a")"""
TABLE = "import pandas as pd\nload = 'wine_red'\npd.DataFrame({'eps': [eps, 1 / 3]})"
TIME = "import time\nprint(time.perf_counter())"


def notebook_of(*cells):
    made = [nbformat.v4.new_markdown_cell("# A ball\n\nIt is small.")]
    for source, *tags in cells:
        made.append(nbformat.v4.new_code_cell(source, metadata={"tags": tags}))
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": spec})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The notebooks of a clone: one with all kinds of outputs, one with next to none."""
    folder = tmp_path_factory.mktemp("clone") / "notebooks"
    folder.mkdir()
    full = [(PARAMETERS, "parameters"), (FIGURE,), (TABLE,), (TIME, comparing.IGNORE)]
    write_notebook(notebook_of(*full), folder / "01_full.ipynb")
    write_notebook(notebook_of(("print(7)",)), folder / "02_small.ipynb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(notebooks_room, "notebooks_folder", lambda: folder)
        for room in ("archiving", "verifying"):
            patch.setattr(f"mebnb.report.{room}.notebooks_folder", lambda: folder)
        file = running.CLONE / "LICENSE"
        patch.setattr(running, "_files_that_matter", lambda: [file])
        yield folder


@pytest.fixture(scope="module")
def report(folder):
    """A finished report, with a parameter of its own."""
    paths = sorted(folder.glob("*.ipynb"))
    out = folder.parent / "report"
    given = assign_parameters(paths, [("eps", "0.25")])
    made = make_report(paths, given, out, say=lambda line: None)
    assert not (made.failed or made.problems)
    return out


@pytest.fixture(scope="module")
def archive(report):
    file = report.parent / "report.zip"
    write_archive(report, file)
    return file


@pytest.fixture
def no_kernel(report, monkeypatch):
    """A rerun shows what the report shows, without running anything."""

    def run(path, given, **_):
        asked.append((path.name, given))
        return read_notebook(report / "notebooks" / path.name)

    asked = []
    monkeypatch.setattr(verifying, "run_notebook", run)
    return asked


def contents(archive):
    with zipfile.ZipFile(archive) as file:
        return {name: file.read(name) for name in file.namelist()}


def sealed(files):
    """The metadata made to fit the files."""
    graph = json.loads(files[METADATA])
    for entity in graph["@graph"]:
        if entity["@id"] in files and "sha256" in entity:
            content = files[entity["@id"]]
            entity["sha256"] = hashlib.sha256(content).hexdigest()
    return {**files, METADATA: json.dumps(graph).encode()}


def packed(target, files, extra=()):
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in [*files.items(), *extra]:
            file.writestr(name, content)
    return target


def changed(archive, target, change, name="01_full"):
    """The archive with a changed notebook, hashes and all."""
    files, place = contents(archive), f"notebooks/{name}.ipynb"
    notebook = parse_notebook(files[place], place)
    change(notebook)
    files[place] = nbformat.writes(notebook).encode()
    return packed(target, sealed(files))


# --- what goes in --------------------------------------------------------------------


def test_archive_holds_the_report_and_what_it_was_made_with(archive, report):
    files = contents(archive)
    assert {"LICENSE", "requirements.lock", "machine.json", "packages.txt"} <= set(
        files
    )
    pages = {page.name for page in report.glob("*.html")}
    assert "index.html" in pages and pages <= set(files)
    kept = (report / "notebooks" / "01_full.ipynb").read_bytes()
    assert files["notebooks/01_full.ipynb"] == kept
    (card,) = json.loads(files["data.json"])
    assert card["name"] == "wine_red" and card["licence"] == "CC BY 4.0"
    assert len(card["sha256"]) == 64
    assert any(
        line.startswith("numpy==") for line in files["packages.txt"].decode().split()
    )


def test_the_machine_is_that_of_the_run_not_of_the_packing(report, tmp_path):
    other = tmp_path / "report"
    shutil.copytree(report, other)
    place = other / "notebooks" / "02_small.ipynb"
    notebook = read_notebook(place)
    notebook.metadata.mebnb.machine["cpu"] = "an older one"
    write_notebook(notebook, place)
    write_archive(other, tmp_path / "a.zip")
    machines = json.loads(contents(tmp_path / "a.zip")["machine.json"])
    assert machines["02_small"]["cpu"] == "an older one"
    assert machines["01_full"] == {
        "python": platform.python_version(),
        **running.describe_machine(),
    }
    del notebook.metadata.mebnb["machine"]  # as a run of an earlier version
    write_notebook(notebook, place)
    write_archive(other, tmp_path / "b.zip")
    machines = json.loads(contents(tmp_path / "b.zip")["machine.json"])
    assert machines["02_small"] == {"python": platform.python_version()}


def test_metadata_is_a_crate_that_names_every_file_with_its_hash(archive):
    files = contents(archive)
    graph = {e["@id"]: e for e in json.loads(files.pop(METADATA))["@graph"]}
    assert graph[METADATA]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.2"}
    root = graph["./"]
    assert {part["@id"] for part in root["hasPart"]} == set(files)
    for name, content in files.items():
        assert graph[name]["sha256"] == hashlib.sha256(content).hexdigest()
        assert graph[name]["contentSize"] == str(len(content))
    assert {"name", "description", "datePublished", "license"} <= set(root)
    run = graph["#run-01_full"]
    assert run["result"] == {"@id": "notebooks/01_full.ipynb"}
    assert run["object"] == [{"@id": "#data-wine_red"}]
    assert graph["#data-wine_red"]["license"]["@id"].endswith("/by/4.0/")


def test_the_crate_is_one_for_the_library_too(archive, tmp_path):
    from rocrate.rocrate import ROCrate

    with zipfile.ZipFile(archive) as file:
        file.extractall(tmp_path)
    crate = ROCrate(tmp_path)
    assert crate.mainEntity.id == "index.html"
    assert len(crate.get_by_type("CreateAction")) == 2


def test_the_same_report_gives_the_same_bytes(archive, report, tmp_path):
    write_archive(report, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()


def test_no_folder_of_this_machine_is_in_it(archive):
    files = contents(archive)
    about = b"".join(files[n] for n in (METADATA, "machine.json", "packages.txt"))
    assert b"file:" not in about
    for name, content in files.items():
        assert str(running.CLONE).encode() not in content, name


@pytest.mark.kernel
def test_a_warning_of_a_run_names_no_folder_of_this_machine(tmp_path):
    cell = "import warnings\nwarnings.warn('7 rows', stacklevel=1)"
    write_notebook(notebook_of((cell,)), tmp_path / "warned.ipynb")
    (output,) = running.run_notebook(tmp_path / "warned.ipynb").cells[1].outputs
    assert output.name == "stderr"
    assert "UserWarning: 7 rows" in output.text and "/" not in output.text


def test_what_is_no_run_is_refused(folder, report, tmp_path):
    with pytest.raises(ReportError, match="is not a finished report"):
        write_archive(tmp_path, tmp_path / "a.zip")
    stored = tmp_path / "stored"
    export_stored(sorted(folder.glob("*.ipynb")), stored)
    with pytest.raises(ReportError, match="01_full was not run for this report"):
        write_archive(stored, tmp_path / "a.zip")
    assert not (tmp_path / "a.zip").exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda nb: nb.cells[1].outputs.append(
                nbformat.v4.new_output("error", ename="E", evalue="v", traceback=[])
            ),
            "01_full: failed; an archive holds whole runs",
        ),
        (
            lambda nb: nb.metadata.papermill.parameters.update(path="my.csv"),
            "01_full was run on a file of its own",
        ),
        (
            lambda nb: nb.metadata.mebnb.update(fingerprint="another"),
            "01_full was run with another notebook, package or data",
        ),
    ],
)
def test_runs_that_nobody_could_repeat_are_refused(report, tmp_path, change, sentence):
    other = tmp_path / "report"
    (other / "notebooks").mkdir(parents=True)
    (other / "index.html").write_text("")
    notebook = read_notebook(report / "notebooks" / "01_full.ipynb")
    change(notebook)
    write_notebook(notebook, other / "notebooks" / "01_full.ipynb")
    with pytest.raises(ReportError, match=sentence):
        write_archive(other, tmp_path / "a.zip")


# --- what is refused on reading ------------------------------------------------------


def test_notebooks_are_read_back(archive, report):
    read = read_archive(archive)
    assert list(read) == ["01_full", "02_small"]
    assert read["01_full"] == read_notebook(report / "notebooks" / "01_full.ipynb")


def member(name, mode):
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("../evil.html", "is no name of a file within the archive"),
        ("notebooks/../../evil", "is no name of a file within the archive"),
        ("/etc/evil", "is no name of a file within the archive"),
        ("C:evil", "is no name of a file within the archive"),
        ("a\\..\\evil", "is no name of a file within the archive"),
        (".hidden", "is no name of a file within the archive"),
        ("INDEX.html", "is there twice"),
        (member("link.html", stat.S_IFLNK | 0o777), "is a link or another thing"),
        ("more.html", "other files than its ro-crate-metadata.json names"),
    ],
)
def test_members_that_no_report_has_are_refused(archive, tmp_path, name, sentence):
    bad = packed(tmp_path / "bad.zip", contents(archive), [(name, b"x")])
    with pytest.raises(ReportError, match=sentence):
        read_archive(bad)


def test_a_member_that_is_gone_or_another_is_refused(archive, tmp_path):
    files = contents(archive)
    files["02_small.html"] += b" "
    with pytest.raises(ReportError, match="02_small.html has another sha256"):
        read_archive(packed(tmp_path / "bad.zip", files))
    del files["02_small.html"]
    with pytest.raises(ReportError, match="other files than"):
        read_archive(packed(tmp_path / "bad.zip", files))


@pytest.mark.parametrize(
    ("limit", "value", "sentence"),
    [
        ("MOST_MEMBERS", 3, "members, at most 3"),
        ("MOST_BYTES", 10_000, "has more than"),
        ("MOST_BYTES_IN_ALL", 500_000, "unpacked"),
    ],
)
def test_what_is_too_large_is_refused(
    archive, tmp_path, monkeypatch, limit, value, sentence
):
    files = contents(archive)
    # A bomb: far larger than its file.
    bomb = packed(tmp_path / "bomb.zip", {**files, "bomb.html": bytes(5_000_000)})
    assert bomb.stat().st_size < 500_000
    monkeypatch.setattr(unpacking, limit, value)
    with pytest.raises(ReportError, match=sentence):
        read_archive(bomb)


def test_a_member_larger_than_it_says_is_refused(archive, tmp_path):
    content = bytearray(archive.read_bytes())
    at = content.rindex(b"PK\x01\x02") + 24  # the size that the directory tells
    content[at : at + 4] = (1).to_bytes(4, "little")
    (tmp_path / "bad.zip").write_bytes(content)
    with pytest.raises(ReportError, match="no zip file|not a zip file|sha256"):
        read_archive(tmp_path / "bad.zip")


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip at all" * 100])
def test_what_is_no_zip_is_refused(tmp_path, content):
    (tmp_path / "bad.zip").write_bytes(content)
    with pytest.raises(ReportError, match="is not a zip file"):
        read_archive(tmp_path / "bad.zip")


def test_a_name_in_no_encoding_is_refused(tmp_path):
    bad = packed(tmp_path / "bad.zip", {"\u00e9.html": b"x"})
    bad.write_bytes(bad.read_bytes().replace("\u00e9".encode(), b"\xff\xfe"))
    with pytest.raises(ReportError, match="is not a zip file"):
        read_archive(bad)


@pytest.mark.parametrize(
    "metadata", [b"", b"[]", b'{"@graph": [1]}', b"[" * 100_000, b'{"@graph": []}']
)
def test_metadata_of_something_else_is_refused(archive, tmp_path, metadata):
    bad = packed(tmp_path / "bad.zip", {**contents(archive), METADATA: metadata})
    with pytest.raises(ReportError, match="has no ro-crate-metadata.json of a report"):
        read_archive(bad)


@pytest.mark.parametrize(
    "change",
    [
        lambda nb: nb.metadata.pop("papermill"),
        lambda nb: nb.metadata.papermill.update(parameters=[1]),
        lambda nb: nb.metadata.update(mebnb="text"),
        lambda nb: nb.cells[5].outputs[0].update(name=7),
    ],
)
def test_a_notebook_in_pieces_is_refused(archive, tmp_path, change):
    bad = tmp_path / "bad.zip"
    with pytest.raises(ReportError, match="01_full.ipynb (is not|does not)"):
        read_archive(changed(archive, bad, change))


# --- the rerun -----------------------------------------------------------------------


@pytest.mark.kernel
def test_an_archive_is_verified_by_running_it_again(archive):
    lines = []
    verified = verify_archive(archive, say=lines.append)
    assert verified.passed and len(lines) == 2
    full, small = verified.reruns
    assert dict(full.counts) == {"equal": 3, "not comparable": 1}
    assert dict(small.counts) == {"equal": 1}
    assert "verified: 4 equal, 1 not comparable" in str(verified)
    assert "figures equal: 1 by same bytes" in str(verified)
    assert "pages are not compared" in str(verified)


def test_it_runs_with_the_parameters_of_the_archive(archive, no_kernel):
    assert verify_archive(archive, say=lambda line: None).passed
    assert no_kernel == [("01_full.ipynb", {"eps": 0.25}), ("02_small.ipynb", {})]


def spoil(notebook):
    output = notebook.cells[4].outputs[0]
    output.data["text/html"] = output.data["text/html"].replace("0.333333", "0.333334")


def spoil_recorded(notebook):
    notebook.cells[3].outputs[1].metadata["mebnb_record"]["radius"] += 1e-5


def round_recorded(notebook):
    notebook.cells[3].outputs[1].metadata["mebnb_record"]["radius"] *= 1 + 1e-12


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (spoil, 1, "01_full, cell 4, table differs: 0.333334 -> 0.333333"),
        (spoil_recorded, 1, "01_full, cell 3, text differs: radius: 0.3077"),
        (round_recorded, 0, "01_full, cell 3, text within rounding: radius: 0.3076"),
    ],
)
def test_a_difference_is_told_and_decides_the_exit_code(
    archive, no_kernel, tmp_path, capsys, change, code, words
):
    other = changed(archive, tmp_path / "other.zip", change)
    assert cli.main(["archive", "--verify", str(other), "-q"]) == code
    printed = capsys.readouterr().out
    assert words in printed
    assert ("NOT verified" in printed) == bool(code)


def other_code(notebook):
    notebook.cells[-1].source = "import os; os.system('true')"


def own_file(notebook):
    notebook.metadata.papermill.parameters["path"] = "/etc/passwd"


def no_parameter(notebook):
    notebook.metadata.papermill.parameters["sed"] = "\x1b[2J"


def ignored(notebook):
    spoil(notebook)
    notebook.cells[4].metadata.tags = [comparing.IGNORE]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (other_code, "its code or text is another in this clone"),
        (ignored, "its code or text is another in this clone"),
        (own_file, "it was run on a file of its own"),
        (no_parameter, "unknown parameter 'sed'"),
    ],
)
def test_foreign_code_and_files_are_never_run(
    archive, no_kernel, tmp_path, change, reason
):
    other = changed(archive, tmp_path / "other.zip", change)
    verified = verify_archive(other, say=lambda line: None)
    assert not verified.passed
    assert verified.reruns[0].refusal.startswith(reason)
    assert no_kernel == [("02_small.ipynb", {})]
    assert "\x1b" not in str(verified)


def test_a_notebook_that_the_clone_lacks_is_told(archive, no_kernel, tmp_path):
    files = sealed(contents(archive))
    text = files.pop(METADATA).decode().replace("02_small.ipynb", "03_else.ipynb")
    files["notebooks/03_else.ipynb"] = files.pop("notebooks/02_small.ipynb")
    other = packed(tmp_path / "other.zip", {**files, METADATA: text.encode()})
    verified = verify_archive(other, say=lambda line: None)
    assert verified.reruns[1].refusal == "no notebook of this clone"
    assert not verified.passed and len(no_kernel) == 1


def test_a_rerun_that_fails_is_no_agreement(archive, no_kernel, monkeypatch, report):
    notebook = read_notebook(report / "notebooks" / "02_small.ipynb")
    error = nbformat.v4.new_output("error", ename="E", evalue="a\x1b[1mb", traceback=[])
    notebook.cells[1].outputs.append(error)
    monkeypatch.setattr(verifying, "run_notebook", lambda *_, **__: notebook)
    verified = verify_archive(archive, say=lambda line: None)
    assert verified.reruns[1].refusal.startswith("failed, In [1]: a\ufffd")
    assert not verified.passed


# --- the comparison ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("r = 0.25, 3 points", "r = 0.25, 3 points", "equal"),
        ("at <Axes 0x7f00aa11bb22>", "at <Axes 0x7f00aa11bb33>", "equal"),
        ("1.0000001", "1.0", "within rounding"),
        ("1.00001", "1.0", "differs"),
        ("-1.5", "1.5", "differs"),
        ("\N{MINUS SIGN}1.5000001", "\N{MINUS SIGN}1.5", "within rounding"),
        ("1.0000001e-12", "1e-12", "within rounding"),
        ("2e-12", "1e-12", "differs"),
        ("1000001", "1000002", "differs"),  # a whole number is counted, not rounded
        ("1e-10  x", "9.9999999e-11 x", "within rounding"),  # padded in another way
        ("it is 2.5000001.", "it is 2.5.", "within rounding"),
        ("a 1", "b 1", "differs"),
        ("1 2", "1 2 3", "differs"),
        ("R-E13", "R-E14", "differs"),
        ("<td>1.0000001</td>", "<td>1.0</td>", "within rounding"),
        ("<td>1.0000001</td>", "<th>1.0</th>", "differs"),
        ("nan", "0.5", "differs"),
    ],
)
def test_numbers_are_compared_as_numbers_and_words_as_words(old, new, verdict):
    assert compare_texts(old, new)[0] == verdict
    assert compare_texts(new, old)[0] == verdict


def picture(colour, **about):
    stream = io.BytesIO()
    Image.new("RGB", (4, 4), colour).save(stream, "PNG", **about)
    return nbformat.v4.new_output(
        "display_data",
        data={"image/png": comparing.base64.b64encode(stream.getvalue()).decode()},
    )


def test_figures_are_compared_by_bytes_then_by_pixels():
    shown = [
        comparing.shown({"outputs": [output]})[0]
        for output in (
            picture("red"),
            picture("red", compress_level=0),
            picture("blue"),
        )
    ]
    assert compare_outputs(shown[0], shown[0]) == ("equal", "same bytes")
    assert compare_outputs(shown[0], shown[1]) == ("equal", "same pixels")
    assert compare_outputs(shown[0], shown[2]) == ("differs", "100.00% of the pixels")
    near, off = (
        comparing.shown({"outputs": [picture((255 - k, 0, k))]})[0] for k in (1, 2)
    )
    assert compare_outputs(shown[0], near)[0] == "within rounding"
    assert compare_outputs(near, shown[0])[0] == "within rounding"
    assert compare_outputs(shown[0], off)[0] == "differs"
    broken = {"image/png": "no picture"}
    assert compare_outputs(shown[0], broken)[0] == "differs"
    drawn = [
        {**shown[0], "image/svg+xml": words} for words in ("<svg/>", "<svg>1</svg>")
    ]
    assert compare_outputs(*drawn) == ("equal", "same bytes")
    alone = [{"image/svg+xml": words} for words in ("<svg>1</svg>", "<svg>2</svg>")]
    assert compare_outputs(*alone)[0] == "differs"


def test_frames_to_step_through_are_a_figure():
    frame = Frame("Radius 2.5.", [Dots("point", [[0, 0], [4, 3]])])
    data = step_through("two", "Two points.", [frame])._repr_mimebundle_()
    cell = nbformat.v4.new_code_cell("x")
    cell.outputs = [nbformat.v4.new_output("display_data", data)]
    notebook = nbformat.v4.new_notebook(cells=[cell])
    (found,) = compare_notebooks(notebook, copy.deepcopy(notebook))
    assert (found.kind, found.verdict) == ("figure", "equal")


@pytest.mark.parametrize(
    ("place", "verdict"), [(4.0000001, "within rounding"), (4.01, "differs")]
)
def test_places_in_frames_are_compared_as_numbers(place, verdict):
    old, new = (
        {STEPS: {"frames": [{"says": "Radius 2.5.", "places": [[0, x]]}]}}
        for x in (4.0, place)
    )
    assert compare_outputs(old, new)[0] == verdict
    other = {STEPS: {"frames": [{"says": "Radius 3.", "places": [[0, 4.0]]}]}}
    assert compare_outputs(old, other)[0] == "differs"


def test_an_output_that_only_one_run_shows_differs(report):
    old = read_notebook(report / "notebooks" / "01_full.ipynb")
    new = copy.deepcopy(old)
    del new.cells[3].outputs[1]
    found = [one for one in compare_notebooks(old, new) if one.verdict == "differs"]
    assert [(one.cell, one.note) for one in found] == [(3, "only the archive shows it")]


def test_pieces_of_a_stream_are_one_text():
    pieces = [
        nbformat.v4.new_output("stream", name="stdout", text=t) for t in ("a", "b")
    ]
    assert comparing.shown({"outputs": pieces}) == [{"stdout": "ab"}]


# --- the command ---------------------------------------------------------------------


def test_the_command_packs_a_report(report, tmp_path, capsys):
    out = tmp_path / "mine.zip"
    assert cli.main(["archive", str(report), "-o", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n" and out.is_file()


@pytest.mark.kernel
def test_the_command_runs_what_it_packs(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        notebooks_room, "list_notebooks", lambda _: [folder / "02_small.ipynb"]
    )
    out = tmp_path / "mine.zip"
    assert cli.main(["archive", "-o", str(out), "-q"]) == 0
    assert list(read_archive(out)) == ["02_small"]
    assert b'id="R-E13"' in contents(out)["errata.html"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "-o names the file to write, --verify one to verify"),
        (["-o", "a.tar"], "-o must name a file *.zip, found a.tar"),
        (["--verify", "a.zip", "-o", "b.zip"], "--verify takes no other file"),
        (["--verify", "none.zip"], "cannot read none.zip"),
        (["none", "-o", "a.zip"], "none is not a finished report"),
    ],
)
def test_senseless_commands_are_refused(
    folder, words, sentence, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["archive", *words]) == 2
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.glob("*.zip"))
