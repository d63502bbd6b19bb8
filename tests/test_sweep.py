"""Recorded values, sweeps over a grid, and what a report found as a whole."""

import math
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from mebnb import cli
from mebnb.report import ReportError, record, running, sweeping
from mebnb.report.findings import findings
from mebnb.report.recording import KEY, recorded_values
from mebnb.report.running import Interrupted, fingerprint
from mebnb.report.sweeping import name_of, read_grid, sweep

RECORDING = """\
from mebnb.report import record
record(steps=int(10 / eps) + seed, root=(seed + eps) ** 0.5, rule_used=rule)
record(steps=int(10 / eps) + seed + 1)"""


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A notebook that records three values; the package counts as unchanged."""
    monkeypatch.setattr(running, "_files_that_matter", list)
    cells = [
        nbformat.v4.new_markdown_cell("# A root\n\nIt records."),
        nbformat.v4.new_code_cell(
            "seed: int = 1  # seed\neps: float = 0.1  # tolerance\n"
            'rule: str = "exact"  # step rule\nsizes: list[int] = [1]  # sizes',
            metadata={"tags": ["parameters"]},
        ),
        nbformat.v4.new_code_cell(RECORDING),
    ]
    file = tmp_path / "05_root.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), file)
    return file


def fake_run(path, parameters, **_):
    """What a run would leave, without a kernel: the same values, no execution."""
    notebook = nbformat.read(path, as_version=4)
    values = {"steps": int(10 / parameters["eps"]) + parameters["seed"] + 1}
    output = nbformat.v4.new_output(
        "display_data", {"text/plain": "recorded"}, metadata={KEY: values}
    )
    notebook.cells[-1].outputs = [output]
    notebook.metadata["mebnb"] = {"fingerprint": fingerprint(path, parameters)}
    return notebook


# --- record --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (1, 1),
        (np.int64(2), 2),
        (np.float64(0.1), 0.1),
        (np.array(3.5), 3.5),
        (True, True),
        (np.bool_(False), False),
        ("a", "a"),
        (None, None),
        (math.nan, None),
    ],
)
def test_record_keeps_plain_values(value, kept):
    from mebnb.report.recording import _plain

    found = _plain("x", value)
    assert found == kept and type(found) is type(kept)


def test_record_refuses_what_a_notebook_cannot_hold():
    with pytest.raises(ValueError, match="radius must be finite or NaN, found inf"):
        record(radius=math.inf)
    with pytest.raises(TypeError, match="center must be a number, .*, found ndarray"):
        record(center=np.zeros(2))


# --- the grid ------------------------------------------------------------------------


def test_grid_is_the_product_of_its_values_with_the_fixed_ones(path):
    grid = [("seed", ["0:2", "7"]), ("eps", ["0.1", "1e-3"])]
    points = read_grid(path, grid, [("rule", "short")])
    assert [(p["seed"], p["eps"]) for p in points] == [
        (0, 0.1),
        (0, 0.001),
        (1, 0.1),
        (1, 0.001),
        (7, 0.1),
        (7, 0.001),
    ]
    assert {p["rule"] for p in points} == {"short"}
    assert [p["seed"] for p in read_grid(path, [("seed", ["10:0:-5"])])] == [10, 5]
    assert read_grid(path, [("sizes", ["[1, 2]"])]) == [{"sizes": [1, 2]}]


@pytest.mark.parametrize(
    ("grid", "fixed", "sentence"),
    [
        (
            [("sed", ["1"])],
            [],
            "unknown parameter 'sed'; 05_root has seed, eps, rule, sizes",
        ),
        (
            [("seed", ["1", "x"])],
            [],
            "parameter seed of 05_root (seed) must be an int, found 'x'",
        ),
        ([("seed", ["5:5"])], [], "the range 5:5 of parameter seed is empty"),
        ([("seed", ["1"])], [("seed", "2")], "parameter seed is given twice"),
        ([("seed", ["1"]), ("seed", ["2"])], [], "parameter seed is given twice"),
    ],
)
def test_senseless_grids_are_refused(path, grid, fixed, sentence):
    with pytest.raises(ReportError) as refusal:
        read_grid(path, grid, fixed)
    assert str(refusal.value) == sentence


def test_names_of_runs_are_readable_and_differ():
    assert name_of({"seed": 1, "eps": 0.1}).startswith("seed-1_eps-0.1_")
    assert name_of({"a": "x/y"}) != name_of({"a": "x:y"})
    assert "/" not in name_of({"a": "x/y"})


# --- the sweep -----------------------------------------------------------------------


def test_sweep_gathers_what_the_notebook_records(path, tmp_path, capsys):
    words = ["sweep", str(path), "-g", "seed", "1:3", "-p", "eps", "0.5", "--jobs", "2"]
    out = tmp_path / "out"
    assert cli.main([*words, "-o", str(out)]) == 0
    table = pd.read_csv(out / "sweep.csv")
    assert list(table.columns[:3]) == ["seed", "eps", "status"]
    assert table["steps"].tolist() == [22, 23]
    assert table["root"].tolist() == [1.5**0.5, 2.5**0.5]
    assert table["rule_used"].tolist() == ["exact", "exact"]
    page = BeautifulSoup((out / "index.html").read_text(), "html.parser")
    assert "2 of 2 runs of 05_root.ipynb over seed." in page.get_text()
    assert [image["alt"] for image in page("img")] == [
        "root over seed: median 1.40294, from 1.22474 to 1.58114.",
        "steps over seed: median 22.5, from 22 to 23.",
    ]
    executed = nbformat.read(
        out / "runs" / f"{name_of({'seed': 1, 'eps': 0.5})}.ipynb", 4
    )
    assert recorded_values(executed)["steps"] == 22
    shown = executed.cells[-1].outputs[0].data["text/plain"]
    assert shown == "recorded: steps = 21, root = 1.22474, rule_used = exact"


def test_interrupted_sweep_resumes_to_the_same_table(path, tmp_path, monkeypatch):
    runs = []

    blocked = False

    def run(path, parameters, stop, **rest):
        if blocked and len(runs) == 9:  # this one is under way when Ctrl-C comes
            stop.wait(30)
            raise Interrupted(path)
        runs.append(parameters)
        return fake_run(path, parameters, **rest)

    monkeypatch.setattr(sweeping, "run_notebook", run)
    points = read_grid(path, [("seed", ["0:10"]), ("eps", ["0.1", "0.01"])])
    whole = sweep(path, points, tmp_path / "whole", say=lambda line: None)
    assert len(whole.table) == len(runs) == 20 and not whole.interrupted

    def interrupt(line):
        if line.startswith("[7/"):
            raise KeyboardInterrupt

    runs.clear()
    blocked = True
    part = sweep(path, points, tmp_path / "part", say=interrupt)
    assert part.interrupted and 7 <= len(part.table) <= 9
    blocked = False
    page = (tmp_path / "part" / "index.html").read_text()
    assert "The sweep was interrupted; the same command completes it." in page
    resumed = sweep(path, points, tmp_path / "part", say=lambda line: None)
    assert not resumed.interrupted and len(runs) == 20
    csv = "sweep.csv"
    assert (tmp_path / "part" / csv).read_text() == (
        tmp_path / "whole" / csv
    ).read_text()


def test_sweep_whose_runs_fail_says_so(path, tmp_path, monkeypatch, capsys):
    def fail(path, parameters, **rest):
        notebook = fake_run(path, parameters, **rest)
        if parameters["seed"] == 2:
            notebook.cells[-1].outputs = [
                nbformat.v4.new_output("error", ename="E", evalue="x", traceback=[])
            ]
        return notebook

    monkeypatch.setattr(sweeping, "run_notebook", fail)
    words = ["sweep", str(path), "-g", "seed", "1", "2", "-g", "eps", "0.1"]
    assert cli.main([*words, "-o", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == "mebnb: 1 of 2 runs failed\n"
    table = pd.read_csv(tmp_path / "out" / "sweep.csv")
    assert table["status"].tolist() == ["ok", "failed"]
    assert math.isnan(table["steps"][1])


def edit(path):
    """Save the notebook with another cell."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell("1"))
    nbformat.write(notebook, path)


def test_rows_of_a_notebook_that_was_edited_between_runs_are_marked(
    path, tmp_path, monkeypatch, capsys
):
    def run(path, parameters, **rest):
        notebook = fake_run(path, parameters, **rest)
        if parameters["seed"] == 2:  # after this run, before the next
            edit(path)
        return notebook

    monkeypatch.setattr(sweeping, "run_notebook", run)
    out = tmp_path / "out"
    words = ["sweep", str(path), "-g", "seed", "1:5", "-p", "eps", "0.5", "-o"]
    assert cli.main([*words, str(out)]) == 1
    assert capsys.readouterr().err == (
        "mebnb: inputs changed meanwhile: 2 of 4 runs; the same command runs these "
        "again\n"
    )
    meanwhile = "inputs changed meanwhile"
    table = pd.read_csv(out / "sweep.csv")
    assert table["status"].tolist() == [meanwhile, meanwhile, "ok", "ok"]
    assert f"; of these 2 {meanwhile}." in (out / "index.html").read_text()
    monkeypatch.setattr(sweeping, "run_notebook", fake_run)
    assert cli.main([*words, str(out)]) == 0
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()[:4]] == [
        "ok",
        "ok",
        "reused",
        "reused",
    ]
    assert set(pd.read_csv(out / "sweep.csv")["status"]) == {"ok"}


def test_two_sweeps_into_one_folder_leave_one_whole_set(path, tmp_path, monkeypatch):
    both = threading.Barrier(2)

    def run(path, parameters, **rest):
        if parameters["seed"] == 1:
            both.wait(timeout=60)  # neither is done before the other has begun
        return fake_run(path, parameters, **rest)

    def quiet(out):
        return sweep(path, points, out, say=lambda line: None)

    points = [{"seed": seed, "eps": 0.5} for seed in range(1, 6)]
    monkeypatch.setattr(sweeping, "run_notebook", fake_run)
    quiet(tmp_path / "alone")
    monkeypatch.setattr(sweeping, "run_notebook", run)
    # Matplotlib's settings are those of the process: of two threads that draw in the house
    # style, the one that ends last puts back what it found, which is that style.
    with plt.rc_context(), ThreadPoolExecutor(2) as pool:
        list(pool.map(quiet, [tmp_path / "out"] * 2))

    def left(folder):
        return {
            file.relative_to(folder).as_posix(): file.read_bytes()
            for file in folder.rglob("*")
            if file.is_file()
        }

    alone, shared = left(tmp_path / "alone"), left(tmp_path / "out")
    assert sorted(shared) == sorted(alone)
    assert shared["sweep.csv"] == alone["sweep.csv"]


def test_parquet_holds_the_same_table(path, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")

    def mixed(path, parameters, **rest):
        notebook = fake_run(path, parameters, **rest)
        values = notebook.cells[-1].outputs[0].metadata[KEY]
        values["note"] = "one" if parameters["seed"] == 1 else parameters["seed"]
        return notebook

    monkeypatch.setattr(sweeping, "run_notebook", mixed)
    points = read_grid(path, [("seed", ["0:3"]), ("eps", ["0.1"])])
    made = sweep(path, points, tmp_path / "out", say=lambda line: None)
    table = pd.read_parquet(tmp_path / "out" / "sweep.parquet")
    assert table["steps"].tolist() == made.table["steps"].tolist()
    assert table["note"].tolist() == ["0", "one", "2"]


def test_negative_values_and_ranges_are_values(path, tmp_path, monkeypatch):
    monkeypatch.setattr(sweeping, "run_notebook", fake_run)
    words = ["sweep", str(path), "-g", "seed", "-2:0", "-g", "eps", "-1e-3", "-p"]
    assert cli.main([*words, "rule", "-x", "-o", str(tmp_path / "out")]) == 0
    table = pd.read_parquet(tmp_path / "out" / "sweep.parquet")
    assert table[["seed", "eps", "rule"]].values.tolist() == [
        [-2, -0.001, "-x"],
        [-1, -0.001, "-x"],
    ]


def test_sweep_on_a_cluster_gives_the_same_table(path, tmp_path):
    distributed = pytest.importorskip("distributed")
    words = ["sweep", str(path), "-g", "seed", "1:3", "-o"]
    assert cli.main([*words, str(tmp_path / "here")]) == 0
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        there = [*words, str(tmp_path / "there"), "--scheduler", address]
        assert cli.main(there) == 0
    tables = [(tmp_path / name / "sweep.csv").read_text() for name in ("here", "there")]
    assert tables[0] == tables[1]


def test_cluster_that_is_not_there_is_refused(path, tmp_path, capsys):
    pytest.importorskip("distributed")
    words = ["sweep", str(path), "-g", "seed", "1", "-o", str(tmp_path / "out")]
    assert cli.main([*words, "--scheduler", "no:such:address"]) == 2
    assert capsys.readouterr().err.startswith("mebnb: no Dask scheduler at no:such")


def test_cluster_without_dask_is_refused(path, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    words = ["sweep", str(path), "-g", "seed", "1", "-o", str(tmp_path / "out")]
    assert cli.main([*words, "--scheduler", "tcp://127.0.0.1:8786"]) == 2
    assert capsys.readouterr().err == (
        "mebnb: --scheduler needs Dask: pip install 'dask[distributed]'\n"
    )


def test_grid_without_values_is_refused(path, capsys):
    assert cli.main(["sweep", str(path), "-g", "seed"]) == 2
    assert capsys.readouterr().err == "mebnb: -g seed needs at least one value\n"


# --- findings ------------------------------------------------------------------------


def test_findings_are_read_from_comparisons_and_checks():
    from mebnb.documents import check_derivations
    from mebnb.published.compare import compare, published_table

    table = published_table("report_table1_uniform")
    comparison = compare(table, table, keys=["algorithm"])
    checks = check_derivations(ids=["R-E01", "R-E13"])
    notebooks = [
        _showing(repr(comparison)),
        _showing(repr(checks)),
        _showing("nothing"),
    ]
    numbers = len(comparison.frame)
    assert findings(notebooks) == [
        f"Of {numbers} published numbers in 1 table, {numbers} are equal as printed.",
        "Notebooks show 2 checks: all passed.",
    ]
    assert findings(notebooks[2:]) == []


def test_verdict_on_several_is_said_of_several():
    told = findings([_showing("t: 5 published cells: 3 differs, 2 agrees within it")])
    assert told == ["Of 5 published numbers in 1 table, 3 differ, 2 agree within it."]
    told = findings([_showing("2 entries (x): 1 passed, 1 failed, 0 without data")])
    assert told == ["Notebooks show 2 checks: 1 passed, 1 failed."]


def test_findings_are_told_the_best_first():
    kinds = ["differs", "equal as printed", "not comparable", "decided by rounding"]
    lines = [f"t{at}: 1 published cells: 1 {kind}" for at, kind in enumerate(kinds)]
    again = "t0: 1 published cells: 1 agrees within the spread"  # with other seeds
    told = findings([_showing("\n".join([*lines, again]))])
    assert told == [
        "Of 4 published numbers in 4 tables, 1 is equal as printed, "
        "1 is decided by rounding, 1 differs, 1 is not comparable."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a: 3 published cells: none of them",
        "a: 3 published cells: 2 equal as printed, and more",
        "a: 3 published cells: 1 <b>equal</b>",
        "a: 3 published cells: " + "9" * 5000 + " differs",
        "a: ٣ published cells: ² differs",
        "1 entries (x): " + "9" * 5000 + " passed, 0 failed, 0 without data",
        ["a: 1 published cells: 1 differs"],
        {"a": 1},
    ],
)
def test_words_that_only_resemble_a_finding_are_none(text):
    notebook = _showing("")
    notebook.cells[0].outputs[0].data["text/plain"] = text
    assert findings([notebook]) == []
    notebook.cells[0].outputs = [{"output_type": "stream", "text": text}]
    assert findings([notebook]) == []


def _showing(text):
    output = nbformat.v4.new_output("execute_result", {"text/plain": text})
    cell = nbformat.v4.new_code_cell(outputs=[output])
    return nbformat.v4.new_notebook(cells=[cell])
