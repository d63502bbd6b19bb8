"""What every committed notebook must be, and reruns with other parameters."""

import json
import re
from pathlib import Path

import nbformat
import papermill
import pytest

from mebnb.report.drawings import drawn

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TYPES = re.compile(r"(int|float|str|bool|list\[(int|float|str|bool)\])$")
MACHINE_PATH = re.compile(r"/(?:home|root|work|tmp|Users)/[\w.-]+")

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def code_cells(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def outputs(path):
    for cell in code_cells(path):
        yield from cell.outputs


def test_there_are_notebooks():
    assert NOTEBOOKS


@each
def test_name_is_number_and_words(path):
    assert re.fullmatch(r"\d\d_[a-z0-9_]+", path.stem)
    assert len({other.stem[:2] for other in NOTEBOOKS}) == len(NOTEBOOKS)


@each
def test_one_parameters_cell_whose_lines_papermill_explains(path):
    tagged = [c for c in code_cells(path) if "parameters" in c.metadata.get("tags", [])]
    assert len(tagged) == 1
    lines = [line for line in tagged[0].source.splitlines() if line.strip()]
    known = papermill.inspect_notebook(str(path))
    assert len(known) == len(lines), "every line of the cell is one parameter"
    for name, told in known.items():
        assert TYPES.fullmatch(told["inferred_type_name"]), f"{name} needs a type"
        assert told["help"], f"{name} needs a comment"


@each
def test_executed_once_from_top_to_bottom(path):
    counts = [cell.execution_count for cell in code_cells(path)]
    assert counts == list(range(1, len(counts) + 1))
    assert any(cell.outputs for cell in code_cells(path))


@each
def test_clean_metadata(path):
    notebook = read(path)
    assert notebook.metadata == {
        "kernelspec": {
            "display_name": "Python 3 (ipykernel)",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags"}


@each
def test_clean_outputs(path):
    for output in outputs(path):
        assert output.output_type in {"execute_result", "display_data", "stream"}
        if output.output_type == "stream":
            assert output.name == "stdout", f"something on stderr: {output.text[:200]}"
            text = output.text
        else:
            text = " ".join(
                str(value)
                for kind, value in output.data.items()
                if not kind.startswith("image/")
            )
        assert not re.search(r"\b\w*Warning\b", text)
        assert not MACHINE_PATH.search(text)
        assert "\r" not in text
        assert len(json.dumps(output)) < 2_000_000


@each
def test_every_picture_has_an_alternative_text(path):
    for output in outputs(path):
        data = output.get("data", {})
        kinds = [kind for kind in data if kind.startswith("image/")]
        # A drawing comes with the same picture for viewers that do not trust it.
        assert set(kinds) in ({"image/png"}, {"image/png", "image/svg+xml"}, set())
        for kind in kinds:
            assert output.metadata.get(kind, {}).get("alt", "").strip()
        if "image/svg+xml" in data:
            assert drawn(data["image/svg+xml"]) is not None


@each
def test_source_keeps_to_the_rules(path):
    cells = read(path).cells
    assert cells[0].cell_type == "markdown" and cells[0].source.startswith("# ")
    for cell in cells:
        if cell.cell_type == "markdown":
            assert r"\$" not in cell.source, "write USD instead of an escaped dollar"
            assert not MACHINE_PATH.search(cell.source)
        else:
            assert not cell.source.rstrip().endswith(";"), "end figures with show(...)"
            assert all(len(line) <= 96 for line in cell.source.splitlines())
            assert not re.search(r"^\s*(def|class) ", cell.source, flags=re.M), (
                "algorithms, loaders and plot recipes live in the package"
            )


# --- reruns ------------------------------------------------------------------------

TABLE = "text/html"


def rerun(name, tmp_path, **parameters):
    """Run a notebook with other parameters, in a folder of its own."""
    source = next(path for path in NOTEBOOKS if path.stem == name)
    target = tmp_path / "out.ipynb"
    papermill.execute_notebook(
        str(source),
        str(target),
        parameters=parameters,
        kernel_name="python3",
        progress_bar=False,
        cwd=str(tmp_path),
    )
    return nbformat.read(target, as_version=4)


def shown(notebook):
    return "\n".join(
        output.data.get("text/plain", "")
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if "data" in output
    )


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {
            "seed": 7,
            "algorithms": ["ASFW", "APPFW"],
            "slides_seed": 3,
            "extra_splits": 2,
        },
        {"scaling": "minmax", "algorithms": ["ASFW"], "slides_features": 2},
    ],
)
def test_breast_cancer_with_another_seed(tmp_path, parameters):
    from mebnb import load_dataset
    from mebnb.experiments.published_splits import (
        SlidesProtocol,
        report_split,
        slides_split,
    )
    from mebnb.experiments.report_tables import report_table
    from mebnb.experiments.slides_tables import slides_solution, slides_threshold

    small = {"epsilons": [0.05], "extra_splits": 0, "honest_splits": 2}
    text = shown(rerun("09_breast_cancer", tmp_path, **small | parameters))
    data = load_dataset("breast_cancer")
    seed, scaling = parameters.get("seed", 123), parameters.get("scaling", "standard")
    split = report_split(data, seed, scaling=scaling)
    table, _ = report_table(split, ["ASFW"], [0.05])
    assert f"{table.radius[0]:.6f}" in text
    assert "72 published cells: 72 not comparable" in text
    protocol = SlidesProtocol(parameters.get("slides_features", 4), scaled=True)
    sides = slides_split(data, protocol, parameters.get("slides_seed", 22))
    ball = slides_solution("PFW", sides.train)
    assert f"{slides_threshold('PFW', ball):.5f}" in text
    assert "1.94782" not in text
    assert "another experiment than the published one" in text


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {"seed": 5, "m": 60, "n": 1, "epsilons": [0.2]},
        {"seed": 9, "m": 200, "n": 8, "epsilons": [0.05, 0.003]},
    ],
)
def test_core_sets_with_another_cloud(tmp_path, parameters):
    from mebnb import core_set, minimum_enclosing_ball
    from mebnb.experiments.sets import normal_cloud

    chosen = {"max_iter": 200, "sets": ["breast cancer"], "eps": 1e-8, "repeats": 3}
    chosen |= parameters
    text = shown(rerun("06_core_sets", tmp_path, **chosen))
    m, n, eps = chosen["m"], chosen["n"], min(chosen["epsilons"])
    cloud = normal_cloud(m, n, chosen["seed"])
    start = core_set(cloud, eps=1.0, max_iter=0).lower_bound
    share = start / minimum_enclosing_ball(cloud).radius
    first, second = (core_set(cloud, eps=eps, away=away) for away in (False, True))
    assert re.search(rf"cloud {m} x {n} +{m} x {n} +{share:.4f} ", text)
    lazy = second.trace.iterations_to(eps * (2 + eps))
    shown_first = first.iterations if first.iterations <= 200 else "-"
    assert re.search(rf"cloud {m} x {n} +{share:.3f} +{shown_first} +{lazy} ", text)


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {
            "seed": 7,
            "m": 200,
            "n_uniform": 3,
            "epsilons": [0.05],
            "algorithms": ["APPFW"],
        },
        {"seed": 1, "m": 90, "n_uniform": 1, "algorithms": ["BPFW", "ASFW"]},
    ],
)
def test_synthetic_sets_of_other_sizes(tmp_path, parameters):
    from mebnb.experiments.published_splits import report_gaussian, report_uniform
    from mebnb.experiments.report_tables import report_table

    chosen = {"n_gaussian": 4, "repeats": 3, "perturbations": 2, "dimensions": [2, 6]}
    chosen |= {"epsilons": [0.1, 0.01]} | parameters
    text = shown(rerun("08_synthetic", tmp_path, **chosen))
    seed, m, name = chosen["seed"], chosen["m"], chosen["algorithms"][0]
    for split in (
        report_uniform(seed=seed, m=m, n=chosen["n_uniform"]),
        report_gaussian(seed=seed, m=m, n=4),
    ):
        table, _ = report_table(split, [name], chosen["epsilons"][:1])
        row = table.iloc[0]
        count, size = row.iterations, row.active_set_size
        assert re.search(rf" {count} +{row.radius:.6f} +{size} ", text)
    assert "1.0193" not in text


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {"seed": 5, "m": 60, "n": 3, "eps": 1e-6, "algorithms": ["frank_wolfe"]},
        {"seed": 9, "m": 300, "n": 1, "step": "armijo", "algorithms": ["pairwise"]},
    ],
)
def test_frank_wolfe_with_another_cloud(tmp_path, parameters):
    from mebnb.experiments.convergence import wrong_weight
    from mebnb.experiments.sets import normal_cloud

    chosen = {"max_iter": 200, "sets": ["breast cancer"]} | parameters
    text = shown(rerun("02_frank_wolfe", tmp_path, **chosen))
    label = f"cloud {chosen['m']} x {chosen['n']}"
    cloud = normal_cloud(chosen["m"], chosen["n"], chosen["seed"])
    held = wrong_weight(cloud, max_iter=200)
    assert re.search(rf"{label} .*{100 * held[100]:.2f}", text)
    assert "Gaussian" not in text


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {"seed": 4, "m": 50, "n": 3, "eps": 1e-8, "algorithms": ["away_step"]},
        {"seed": 8, "m": 200, "n": 2, "step": "armijo", "algorithms": ["frank_wolfe"]},
    ],
)
def test_away_steps_with_another_cloud(tmp_path, parameters):
    from mebnb import away_step
    from mebnb.experiments.sets import normal_cloud

    chosen = {"max_iter": 400, "sets": ["breast cancer"], "eps": 1e-9, "step": "exact"}
    chosen |= parameters
    text = shown(rerun("03_away_steps", tmp_path, **chosen))
    cloud = normal_cloud(chosen["m"], chosen["n"], chosen["seed"])
    ball = away_step(cloud, step=chosen["step"], gap="relative", tol=chosen["eps"])
    label = f"cloud {chosen['m']} x {chosen['n']}"
    assert re.search(rf"{label} +{ball.iterations} +{ball.radius:.6g} .*", text)


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {"seed": 2, "m": 80, "n": 2, "algorithms": ["pairwise"]},
        {"seed": 6, "m": 40, "n": 4, "step": "armijo", "algorithms": ["away_step"]},
    ],
)
def test_pairwise_with_another_cloud(tmp_path, parameters):
    from mebnb import pairwise
    from mebnb.experiments.convergence import kind_counts
    from mebnb.experiments.sets import normal_cloud

    chosen = {"max_iter": 300, "sets": ["breast cancer"], "eps": 1e-8} | parameters
    text = shown(rerun("04_pairwise", tmp_path, **chosen))
    cloud = normal_cloud(chosen["m"], chosen["n"], chosen["seed"])
    ball = pairwise(cloud, gap="relative", tol=1e-8, max_iter=300)
    reached, swaps = ball.trace.iterations_to(1e-6), kind_counts(ball)["swap"]
    label = f"cloud {chosen['m']} x {chosen['n']}"
    assert re.search(rf"{label} +{reached} +\S+ +{swaps} ", text)


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {"seed": 2, "m": 70, "n": 3, "algorithms": ["blended_pairwise"]},
        {"seed": 6, "m": 90, "n": 1, "step": "golden", "algorithms": ["pairwise"]},
    ],
)
def test_blended_pairwise_with_another_cloud(tmp_path, parameters):
    from mebnb import blended_pairwise
    from mebnb.experiments.sets import normal_cloud

    chosen = {"max_iter": 400, "sets": ["breast cancer"], "eps": 1e-8, "repeats": 2}
    chosen |= parameters
    text = shown(rerun("05_blended_pairwise", tmp_path, **chosen))
    cloud = normal_cloud(chosen["m"], chosen["n"], chosen["seed"])
    ball = blended_pairwise(cloud, gap="relative", tol=1e-8)
    label = f"cloud {chosen['m']} x {chosen['n']}"
    assert re.search(rf"{label} +{ball.radius:.6g} +{ball.support.size} ", text)


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {"seed": 3, "features": 2, "algorithms": ["PFW"], "steps": ["diminishing"]},
        {"seed": 8, "features": 4, "algorithms": ["MEB_A", "BPCG"], "steps": ["short"]},
    ],
)
def test_maternal_risk_with_another_split(tmp_path, parameters):
    from mebnb import load_dataset
    from mebnb.experiments.published_splits import SlidesProtocol, slides_split
    from mebnb.experiments.slides_tables import slides_solution, slides_threshold

    others = {"max_iter": 300, "honest_splits": 2, "scaling": "minmax"}
    text = shown(rerun("12_maternal_risk", tmp_path, **parameters, **others))
    split = slides_split(
        load_dataset("maternal_risk"),
        SlidesProtocol(features=parameters["features"]),
        parameters["seed"],
    )
    name, step = parameters["algorithms"][0], parameters["steps"][0]
    ball = slides_solution(name, split.train, step, max_iter=300)
    assert f"{slides_threshold(name, ball):.5f}" in text
    assert "39.42071" not in text
    assert "another experiment than the published one" in text
    assert ("not in 300" in text) == (step == "short")


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {"seed": 3, "features": 1, "algorithms": ["BPCG"], "steps": ["diminishing"]},
        {"seed": 8, "features": 6, "algorithms": ["PFW", "MEB_A"], "steps": ["short"]},
    ],
)
def test_vertebral_column_with_another_split(tmp_path, parameters):
    from mebnb import load_dataset
    from mebnb.datasets import DatasetNotAvailable
    from mebnb.experiments.published_splits import SlidesProtocol, slides_split
    from mebnb.experiments.slides_tables import slides_solution, slides_threshold

    try:
        data = load_dataset("vertebral_column", download=False)
    except DatasetNotAvailable as missing:
        pytest.skip(str(missing))
    others = {"max_iter": 200, "repeats": 1, "honest_splits": 2, "scaling": "none"}
    text = shown(rerun("11_vertebral_column", tmp_path, **parameters, **others))
    protocol = SlidesProtocol(features=parameters["features"], decimals=2)
    split = slides_split(data, protocol, parameters["seed"])
    name, step = parameters["algorithms"][0], parameters["steps"][0]
    ball = slides_solution(name, split.train, step, max_iter=200)
    assert f"{slides_threshold(name, ball):.5f}" in text
    assert "28.10972" not in text
    assert "another experiment than the published one" in text


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {"seed": 2, "m": 80, "n": 3, "algorithms": ["pairwise"]},
        {"seed": 3, "m": 50, "n": 1, "rules": ["armijo", "golden"]},
    ],
)
def test_line_search_with_another_cloud(tmp_path, parameters):
    from mebnb import away_step
    from mebnb.experiments.sets import normal_cloud

    chosen = {"max_iter": 200, "sets": ["breast cancer"], "epsilons": [1e-2, 1e-4]}
    text = shown(rerun("07_line_search", tmp_path, **chosen | parameters))
    small = normal_cloud(parameters["m"], parameters["n"], parameters["seed"])
    count = away_step(small, step="armijo", gap="relative", tol=1e-6).iterations
    assert re.search(rf"Armijo +{count} +{count} +{count}\n", text)


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {"seed": 4, "algorithms": ["APPFW"], "extra_splits": 0, "epsilons": [0.2]},
        {"nominal_fraction": 0.3, "scaling": "minmax", "epsilons": [0.05, 0.02]},
    ],
)
def test_churn_with_another_split(tmp_path, parameters):
    from mebnb import load_dataset
    from mebnb.datasets import DatasetNotAvailable
    from mebnb.experiments.published_splits import report_split
    from mebnb.experiments.report_tables import report_table

    try:
        data = load_dataset("iranian_churn", download=False)
    except DatasetNotAvailable as missing:
        pytest.skip(str(missing))
    small = {"perturbations": 3, "extra_splits": 2, "honest_splits": 2}
    text = shown(rerun("10_iranian_churn", tmp_path, **small | parameters))
    split = report_split(
        data,
        parameters.get("seed", 123),
        parameters.get("nominal_fraction", 0.5),
        parameters.get("scaling", "standard"),
    )
    name = parameters.get("algorithms", ["ASFW"])[0]
    table, _ = report_table(split, [name], parameters["epsilons"])
    for radius in table.radius:
        assert f"{radius:.6f}" in text
    assert "72 published cells: 72 not comparable" in text


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {"seed": 4, "points": 90, "mu": 1.0, "lam": 0.5, "B": 2.0},
        {"seed": 6, "points": 200, "mu": 0.2, "lam": 1e-3, "B": 1.0},
    ],
)
def test_excluding_ellipsoids_with_another_scale(tmp_path, parameters):
    from mebnb.experiments.ellipsoids import planar_classes
    from mebnb.solvers.ellipsoids import stability_constant

    text = shown(rerun("15_excluding_ellipsoids", tmp_path, **parameters))
    setting = {name: parameters[name] for name in ("mu", "lam", "B")}
    assert f"{stability_constant(**setting, sharp=True):.4g}" in text
    assert f"{stability_constant(**setting):.4g}" in text
    negatives, _ = planar_classes(parameters["points"], parameters["seed"])
    assert len(negatives) < parameters["points"]
    assert "1.638e+06" not in text


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {"sets": ["Wine"], "repeats": 1, "seed": 21},
        {"sets": ["Yeast6", "Abalone17"], "repeats": 1, "seed": 12},
    ],
)
def test_imbalanced_with_other_sets(tmp_path, parameters):
    from mebnb.experiments.rare_classes import fresh_splits, run, tables

    text = shown(rerun("16_imbalanced", tmp_path, **parameters))
    names, seed = parameters["sets"], parameters["seed"]
    table = tables.mean_table(run(fresh_splits(names, ["ME2"], 1, first=seed)), ["ME2"])
    assert re.search(r"ME2 +" + " +".join(table.loc["ME2"]) + "\n?", text)
    assert "0.377 (0.06)" not in text


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {"seed": 7, "m": 3000, "n": 3, "dimensions": [1, 3]},
        {"seed": 4, "m": 40, "n": 1, "dimensions": [2], "sets": ["breast cancer"]},
        {"seed": 9, "m": 12, "n": 20, "dimensions": [5], "sets": ["breast cancer"]},
    ],
)
def test_exact_ball_with_another_cloud(tmp_path, parameters):
    from mebnb import minimum_enclosing_ball
    from mebnb.experiments.exact_ball import balls_counted
    from mebnb.experiments.sets import normal_cloud

    text = shown(rerun("17_exact_ball", tmp_path, **parameters | {"repeats": 2}))
    m, n, seed = parameters["m"], parameters["n"], parameters["seed"]
    radius = minimum_enclosing_ball(normal_cloud(m, n, seed)).radius
    assert re.search(rf"radius by minimum_enclosing_ball +{radius:.6f}\n", text)
    assert re.search(r"equal to 1e-12 +True\nrows outside +0", text)
    counts = balls_counted(parameters["dimensions"], 50, seed, 2000)
    last = " +".join(map(str, [counts.index[-1], *counts.iloc[-1]]))
    assert re.search(rf"\n{last}\n?", text)
    assert "4.900031" not in text


@pytest.mark.kernel
def test_speed_with_another_plan(tmp_path):
    from mebnb.experiments.speed import plan

    given = {"rows": 10**12, "columns": 3, "machines": 7, "card_rate": 2.0}
    small = {"m": 500, "n": 2, "epsilons": [0.1]}
    text = shown(rerun("19_speed", tmp_path, **given | small))
    found = plan(10**12, 3, 2e12)
    sample = f"{found['sample']:,}"
    assert re.search(rf"sample, rows +\+?{sample} +\+?{sample}", text)
    assert f"{found['seconds']:.3g}" in text and "7 machines, files" in text
    assert "eps = 0.01" not in text


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {"seed": 3, "points": 40, "nus": [0.3], "nu": 0.2, "counts": [0, 3]},
        {"seed": 8, "points": 60, "nus": [0.1, 0.4], "nu": 0.05, "counts": [1]},
    ],
)
def test_soft_balls_with_another_share(tmp_path, parameters):
    from mebnb import soft_ball
    from mebnb.experiments.soft_balls import spoiled_cloud

    small = {"extra_splits": 2, "honest_splits": 2}
    text = shown(rerun("14_soft_balls", tmp_path, **small | parameters))
    cloud = spoiled_cloud(parameters["points"], parameters["seed"])
    for share in parameters["nus"]:
        ball = soft_ball(cloud, share)
        assert f"{ball.primal:.6f}" in text and f"{ball.radius:.4f}" in text
    assert "28.686902" not in text


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {"nominal": "colon", "seed": 4, "algorithms": ["MEB_A"], "scaling": "none"},
        {
            "components": 3,
            "algorithms": ["BPCG", "PFW"],
            "steps": ["short"],
            "eps": 0.01,
        },
    ],
)
def test_gene_expression_with_another_class(tmp_path, parameters):
    from dataclasses import replace

    from mebnb import load_dataset, minimum_enclosing_ball
    from mebnb.experiments.published_splits import SlidesProtocol, slides_split
    from mebnb.experiments.slides_tables import slides_solution, slides_threshold

    small = {"repeats": 2, "honest_splits": 2, "max_iter": 100}
    text = shown(rerun("13_gene_expression", tmp_path, **small | parameters))
    data = load_dataset("tissue_expression")
    data = replace(data, nominal=(parameters.get("nominal", "kidney"),))
    ball = minimum_enclosing_ball(data.encoded()[data.is_nominal])
    assert re.search(
        rf"all features +500 +{ball.radius:.6f} +{ball.support.size} ", text
    )
    seed, eps = parameters.get("seed", 22), parameters.get("eps", 1e-4)
    split = slides_split(data, SlidesProtocol(features=500), seed)
    name = parameters["algorithms"][0]
    run = slides_solution(name, split.train, tol=eps, max_iter=100)
    assert f"{slides_threshold(name, run):.4f}" in text
    assert "slides_table2_short_step: 6 published cells: 6 not comparable" in text


MESSY = (
    "Log of hall 4;;;\nday;t;p;state\n;°C;bar;\n"
    + "".join(
        f"0{1 + i % 9}.02.2024;{i % 7},{i % 4};{i * i % 11};ok\n" for i in range(70)
    )
    + "10.02.2024;99,5;3;fault\n11.02.2024;?;3;\nSumme;300;200;\n"
)


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [
        {"path": "wine", "label": "quality", "nominal": "6", "seed": 2, "nu": 0.1},
        {"path": "messy.csv", "scaling": "minmax", "nu": 0.0},
    ],
)
def test_your_data_with_other_files(tmp_path, parameters):
    from mebnb.datasets import dataset_file
    from mebnb.your_data import read_table
    from mebnb.your_data.model import fit_model

    (tmp_path / "messy.csv").write_text(MESSY, encoding="latin-1")
    if parameters["path"] == "wine":
        parameters = parameters | {"path": str(dataset_file("wine_red"))}
    small = {"honest_splits": 2, "sample": 200}
    text = shown(rerun("18_your_data", tmp_path, **small | parameters))
    reading = {
        name: parameters[name] for name in ("label", "nominal") if name in parameters
    }
    table = read_table(tmp_path / parameters["path"], **reading)
    model, _ = fit_model(
        table, nu=parameters["nu"], scaling=parameters.get("scaling", "standard")
    )
    assert f"{model.radius:.6g}" in text
    alarms = model.score(table.values)["alarm"].sum()
    assert f"alarms = {alarms}," in text
    assert "3.58034" not in text


def test_your_data_refuses_a_bad_file_in_one_sentence(tmp_path):
    (tmp_path / "words.csv").write_text("a,b\nx,y\nz,y\n")
    with pytest.raises(papermill.PapermillExecutionError) as failed:
        rerun("18_your_data", tmp_path, path="words.csv")
    assert failed.value.ename == "TableError"
    assert failed.value.evalue.startswith(
        "words.csv has no column of numbers that can be"
    )


@pytest.mark.kernel
@pytest.mark.parametrize(
    "parameters",
    [{"dataset": "maternal_risk", "alpha": 0.1, "seed": 5}],
)
def test_alarms_on_another_set(tmp_path, parameters):
    from mebnb import SoftBallDetector, load_dataset
    from mebnb.experiments import alarms as study

    text = shown(rerun("20_alarms", tmp_path, **parameters))
    seed, alpha = parameters["seed"], parameters["alpha"]
    split = study.raw_split(load_dataset(parameters["dataset"]), seed)
    fitted = study.alarms_on(split, SoftBallDetector(), alpha, seed)
    held, judged = len(fitted.calibration_rows_), (~split.test_is_anomaly).sum()
    law = study.false_alarm_law(held, judged, alpha)
    assert re.search(rf"n = {held}\b", text)
    assert re.search(rf"mean rate +\S+ +{law.mean() / judged:.4f}", text)
    assert f"Benjamini-Hochberg at {0.1:g}" in text
