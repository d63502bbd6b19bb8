"""The rooms of the package: who imports whom, and what an import loads."""

import subprocess
import sys

import grimp
import pytest
from importlinter.cli import lint_imports

SOLVERS_MAY_IMPORT = {"numpy", "scipy", "numba", "pandas"}
# One file knows of tables and clusters, one of other libraries' arrays; each imports
# them when it is handed one.
KNOWING = {
    "mebnb.solvers.sources": {"pyarrow", "dask"},
    "mebnb.solvers.devices": {"array_api_compat"},
}
HEAVY = {
    "IPython",
    "bs4",
    "jupyter_client",
    "matplotlib",
    "nbconvert",
    "nbformat",
    "papermill",
    "seaborn",
    "sklearn",
    "sympy",
}


def loaded_by(*words, code=0):
    """Top names of the modules that a fresh interpreter has loaded in the end."""
    program = (
        "import sys, runpy\n"
        "try:\n"
        f"    {'; '.join(words)}\n"
        "except SystemExit as stop:\n"
        f"    assert (stop.code or 0) == {code}, stop.code\n"
        "print('LOADED', *{name.partition('.')[0] for name in sys.modules})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split("LOADED")[1].split())


def command(*words):
    return f"sys.argv = ['mebnb', *{list(words)}]; runpy.run_module('mebnb')"


def test_no_room_imports_upward_and_there_is_no_circle(capsys):
    assert lint_imports(no_cache=True) == 0, capsys.readouterr().out


def test_the_solvers_lean_on_four_packages_and_on_no_other_room():
    graph = grimp.build_graph("mebnb", include_external_packages=True, cache_dir=None)
    room = {"mebnb.solvers", *graph.find_descendants("mebnb.solvers")}
    imported = set().union(*map(graph.find_modules_directly_imported_by, room)) - room
    assert len(imported) > len(SOLVERS_MAY_IMPORT), "nothing was read"
    outside = {name.partition(".")[0] for name in imported}
    outside -= sys.stdlib_module_names
    assert outside <= SOLVERS_MAY_IMPORT.union(*KNOWING.values())
    for name in room:
        direct = {
            other.partition(".")[0]
            for other in graph.find_modules_directly_imported_by(name)
        }
        others = set().union(*KNOWING.values()) - KNOWING.get(name, set())
        assert not direct & others, name


def test_the_ball_loads_no_learning_plotting_or_notebook_package():
    loaded = loaded_by("from mebnb import minimum_enclosing_ball")
    assert {"numpy", "numba"} <= loaded
    assert not loaded & (HEAVY | {"pandas", "pyarrow", "dask", "array_api_compat"})


@pytest.mark.parametrize(
    "words, code",
    [
        (["--help"], 0),
        (["--version"], 0),
        (["fit"], 2),
        (["report", "--jobs", "none"], 2),
        (["no-such-command"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_a_word_of_the_command_line_loads_nothing_heavy(words, code):
    assert not loaded_by(command(*words), code=code) & (HEAVY | {"numba", "pandas"})


def test_every_public_name_is_there_and_none_is_a_module():
    import mebnb

    assert len(mebnb.__all__) > 10
    for name in mebnb.__all__:
        assert callable(getattr(mebnb, name)), name


def test_the_package_works_without_docstrings():
    subprocess.run(
        [
            sys.executable,
            "-OO",
            "-c",
            "import mebnb.cli; mebnb.frank_wolfe; mebnb.soft_ball",
        ],
        check=True,
        capture_output=True,
    )
    subprocess.run(
        [sys.executable, "-OO", "-m", "mebnb", "--help"],
        check=True,
        capture_output=True,
    )
