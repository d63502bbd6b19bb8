"""A notebook gives the same outputs, figures too, whenever it is run."""

import os
import subprocess
import sys

import pytest

from mebnb.report.notebooks import read_notebook, tags

# Both notebooks draw dots that are shaken apart; parameters that keep them small.
CHURN = ["extra_splits=3", "honest_splits=2", "perturbations=5"]
MATERNAL = ["honest_splits=2", 'steps=["short"]']


def outputs(name, given, target, hash_seed):
    """What each cell shows, in order, but for those that are tagged as times."""
    words = [word for pair in given for word in ["-p", *pair.split("=")]]
    subprocess.run(
        [sys.executable, "-m", "mebnb", "run", name, "-o", str(target), *words],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        check=True,
        capture_output=True,
    )
    return [
        [output.get("data", output.get("text")) for output in cell.outputs]
        for cell in read_notebook(target).cells
        if cell.cell_type == "code" and "nbval-ignore-output" not in tags(cell)
    ]


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("name", "given"),
    [
        pytest.param("10_iranian_churn", CHURN, marks=pytest.mark.large),
        ("12_maternal_risk", MATERNAL),
    ],
)
def test_notebook_gives_the_same_bytes_again(name, given, tmp_path):
    one, two = (outputs(name, given, tmp_path / f"{seed}.ipynb", seed) for seed in "12")
    assert sum("image/png" in str(shown) for shown in one) > 2
    assert len(one) == len(two)
    assert [at for at, shown in enumerate(one) if shown != two[at]] == []
