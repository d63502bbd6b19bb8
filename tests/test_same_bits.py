"""A notebook gives the same outputs, figures too, however it is run."""

import subprocess
import sys

import papermill
import pytest
import yaml

from mebnb.report import comparing
from mebnb.report.comparing import IGNORE, own_cells
from mebnb.report.notebooks import notebooks_folder, read_notebook, tags

# Both notebooks draw dots that are shaken apart; parameters that keep them small.
CHURN = ["extra_splits=3", "honest_splits=2", "perturbations=5"]
MATERNAL = ["honest_splits=2", 'steps=["short"]']
THREADS = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]


def shown(target):
    """What each cell shows, in order, but for those that are tagged as times."""
    cells = own_cells(read_notebook(target))
    return [comparing.shown(cell) for cell in cells if IGNORE not in tags(cell)]


def run_by_mebnb(name, given, target):
    """`mebnb run`, which gives a kernel one thread."""
    words = [word for pair in given for word in ["-p", *pair.split("=")]]
    command = [sys.executable, "-m", "mebnb", "run", name, "-o", str(target), *words]
    subprocess.run(command, check=True, capture_output=True)
    return shown(target)


def run_by_papermill(name, given, target):
    """As in Jupyter: the kernel has the threads of the environment."""
    parameters = yaml.safe_load("\n".join(pair.replace("=", ": ") for pair in given))
    source = notebooks_folder() / f"{name}.ipynb"
    papermill.execute_notebook(source, target, parameters, progress_bar=False)
    return shown(target)


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("name", "given"),
    [
        pytest.param("10_iranian_churn", CHURN, marks=pytest.mark.large),
        ("12_maternal_risk", MATERNAL),
    ],
)
def test_threads_and_hash_seeds_change_no_byte(name, given, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    one = run_by_mebnb(name, given, tmp_path / "one.ipynb")
    monkeypatch.setenv("PYTHONHASHSEED", "2")
    for variable in THREADS:
        monkeypatch.setenv(variable, "2")
    two = run_by_papermill(name, given, tmp_path / "two.ipynb")
    assert sum("image/png" in str(output) for output in one) > 2
    assert len(one) == len(two)
    assert [at for at, output in enumerate(one) if output != two[at]] == []
