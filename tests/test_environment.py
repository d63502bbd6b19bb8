"""pyproject.toml, environment.yml and the lock file speak of the same packages."""

import doctest
import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ENVIRONMENT = (ROOT / "environment.yml").read_text(encoding="utf-8")
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")

# Where conda-forge has another name for the package without the graphical toolkits.
CONDA_NAMES = {"matplotlib": "matplotlib-base"}


def declared():
    project = PYPROJECT["project"]
    lines = project["dependencies"] + project["optional-dependencies"]["test"]
    return {r.name: str(r.specifier) for r in map(Requirement, lines)}


def in_conda():
    found = {}
    for item in yaml.safe_load(ENVIRONMENT)["dependencies"]:
        for line in item["pip"] if isinstance(item, dict) else [item]:
            if line.startswith("--") or line == "pip":
                continue
            requirement = Requirement(line)
            found[requirement.name] = str(requirement.specifier)
    return found


def test_environment_has_the_bounds_of_pyproject():
    conda = in_conda()
    python = conda.pop("python")
    assert sorted(python.split(",")) == sorted(
        PYPROJECT["project"]["requires-python"].split(",")
    )
    expected = {CONDA_NAMES.get(n, n): bounds for n, bounds in declared().items()}
    assert conda == expected


def test_every_dependency_has_a_lower_bound_and_a_reason():
    for text, bound in ((PYPROJECT_TEXT, '",'), (ENVIRONMENT, ">=")):
        lines = [
            line
            for line in text.splitlines()
            if re.search(r">=\d", line) and bound in line
        ]
        assert lines
        for line in lines:
            if "requires" in line:
                continue
            assert "#" in line, f"no reason beside: {line.strip()}"


PYPROJECT_TEXT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_lock_pins_everything_and_names_no_registry():
    pins = dict(re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)", LOCK, flags=re.M))
    extras = PYPROJECT["project"]["optional-dependencies"].values()
    wanted = PYPROJECT["project"]["dependencies"] + [r for rs in extras for r in rs]
    normal = {re.sub(r"[-_.]+", "-", name).lower() for name in pins}
    for requirement in map(Requirement, wanted):
        assert re.sub(r"[-_.]+", "-", requirement.name).lower() in normal
    assert "://" not in LOCK
    assert "--index" not in LOCK and "--find-links" not in LOCK


def test_the_lock_with_hashes_pins_the_same():
    hashed = (ROOT / "requirements.sha256.lock").read_text(encoding="utf-8")
    pin = r"^([A-Za-z0-9_.-]+==[^\s;]+)"
    assert re.findall(pin, hashed, flags=re.M) == re.findall(pin, LOCK, flags=re.M)
    for entry in re.split(r"\n(?=\S)", hashed.strip()):
        assert re.search(r"--hash=sha256:[0-9a-f]{64}$", entry), entry[:80]
    assert "://" not in hashed and "--index" not in hashed


TARGETS = [
    *("report", "test", "lint", "test-unit", "test-notebooks", "test-browser", "setup"),
    *("test-large", "store", "lab", "bench", "judgement", "mutate", "imbalanced"),
    "bench-gpu",
]


HANDED_ON = {"MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "MAKELEVEL", "VENV"}


@pytest.fixture
def conda(tmp_path):
    """A folder that looks like a conda environment made from environment.yml."""
    (tmp_path / "bin").mkdir()
    for name in ("python", "mebnb"):
        (tmp_path / "bin" / name).touch(mode=0o755)
    return tmp_path


def told_by_make(target, prefix):
    if shutil.which("make") is None:
        pytest.skip("no make on this machine")
    # The make that runs these tests hands its own words on, as VENV=.venv-3.12.
    environment = {k: v for k, v in os.environ.items() if k not in HANDED_ON}
    environment["CONDA_PREFIX"] = str(prefix)
    command = ["make", "-n", "-C", str(ROOT), "--no-print-directory", target]
    run = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    )
    return run.stdout


@pytest.mark.parametrize("target", TARGETS)
def test_make_uses_an_active_conda_environment_that_has_the_package(target, conda):
    told = told_by_make(target, conda)
    assert f"{conda}/bin/" in told and ".venv" not in told
    assert "requirements.lock" not in told  # conda chose the versions


def test_make_leaves_other_conda_environments_alone(conda):
    (conda / "bin" / "mebnb").unlink()
    assert str(conda) not in told_by_make("report", conda)
    assert ".venv/bin/mebnb report" in told_by_make("report", "")


def test_the_oldest_versions_are_the_lower_bounds():
    oldest = (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8")
    pins = {
        re.sub(r"[-_.]+", "-", name).lower(): Version(version)
        for name, version in re.findall(r"^([\w.-]+)==(\S+)", oldest, flags=re.M)
    }
    for name, bounds in declared().items():
        (bound,) = [b for b in bounds.split(",") if b.startswith(">=")]
        pinned = pins[re.sub(r"[-_.]+", "-", name).lower()]
        assert pinned == Version(bound.removeprefix(">=")), name
    assert "://" not in oldest and "--index" not in oldest


def test_readme_lists_the_notebooks_by_their_titles():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme.split("<!-- notebooks -->")[1].split("<!-- /notebooks -->")[0]
    listed = re.findall(r"^\| \[(\w+)\]\((\S+)\) \| (.+) \|$", table, flags=re.M)
    expected = []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        title = "".join(cells[0]["source"]).splitlines()[0].removeprefix("# ")
        expected.append((path.stem, f"notebooks/{path.name}", title))
    assert listed == expected


def test_readme_examples_run():
    results = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert results.attempted > 0 and results.failed == 0
