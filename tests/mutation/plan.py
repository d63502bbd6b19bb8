"""Which tests look at which module."""

import shlex

LIBRARIES = (
    *("numpy", "scipy.linalg", "scipy.spatial", "scipy.optimize", "scipy.stats"),
    *("numba", "pandas", "sklearn.ensemble", "sklearn.svm", "sklearn.pipeline"),
    *("sklearn.model_selection", "sklearn.datasets", "sklearn.utils.estimator_checks"),
    *(
        "pytest",
        "_hypothesis_pytestplugin",
        "hypothesis",
        "hypothesis.extra.numpy",
        "threadpoolctl",
    ),
    *(
        "nbformat",
        "matplotlib.pyplot",
        "seaborn",
        "cvxpy",
        "IPython",
        "bs4",
        "requests",
    ),
    *("dask.array", "dask.dataframe", "pyarrow.dataset", "pyarrow.parquet"),
    *("array_api_strict", "array_api_compat"),
)

# `solvers.warming` is not here: all it does is compile, and nothing compiles here.
TESTS = {
    "published.compare": ["test_published.py"],
    "published.map": [
        "test_derivations.py::test_document_map_names_every_numbered_item",
        "test_derivations.py::test_document_map_of_one_document_has_its_rows_alone",
        "test_derivations.py::test_document_map_shows_alike_items_as_one_row_"
        "in_the_order_of_the_document",
        "test_map.py",
    ],
    "your_data.numbers": ["test_tables.py"],
    "learning.splits": ["test_evaluation.py -k 'split or zero or seed or honest'"],
    "learning.rare_classes": [
        "test_imbalanced.py -k 'resampling or rank_rule or any_ball or trees_see"
        " or methods_of_table_2 or rivals_tune or readings_and'"
    ],
    "learning.scores": ["test_evaluation.py"],
    "learning.detectors": ["test_detectors.py", "test_ellipsoids.py"],
    "learning.alarms": [
        "test_alarms.py",
        "test_choice.py::test_thresholds_are_those_of_the_p_values",
    ],
    "learning.choice": ["test_choice.py"],
    "learning.clusters": ["test_choice.py"],
    "learning.keeping": ["test_keeping.py"],
    "learning.local_balls": ["test_local_balls.py"],
    "learning.reasons": ["test_reasons.py", "test_choice.py"],
    "solvers.rates": ["test_studies.py -k rate"],
    "solvers.steps": ["test_steps.py"],
    "solvers.core_sets": ["test_frank_wolfe.py", "test_plain.py"],
    "solvers.plain": ["test_plain.py"],
    "solvers.inputs": [
        "test_balls.py",
        "test_exact.py::test_whole_numbers_that_float64_would_round_are_refused",
        "test_exact.py::test_large_whole_numbers_that_float64_holds_are_taken",
        "test_exact.py::test_digits_in_text_are_refused",
    ],
    "solvers.balls": ["test_balls.py"],
    "solvers.certificates": ["test_certificates.py"],
    "solvers.refining": ["test_refining.py"],
    "solvers.faulty_steps": ["test_steps.py"],
    "solvers.soft_plain": ["test_soft.py -k plain"],
    "solvers.exact": ["test_exact.py"],
    "solvers.frank_wolfe": ["test_frank_wolfe.py", "test_plain.py"],
    "solvers.soft": [
        "test_soft.py",
        "test_plain.py",
        "test_soft_workers.py -k 'not one_ball and not few_points and not same_time'",
    ],
    "solvers.ellipsoids": ["test_ellipsoids.py", "test_plain.py"],
    "solvers.passes": ["test_workers.py"],
    "solvers.plain_balls": ["test_plain_balls.py"],
    # Not the simulated card: another process computes there, with the module as it is.
    "solvers.devices": ["test_devices.py -k 'not simulated'"],
    "solvers.sources": ["test_sources.py"],
}

# Faults planted by hand stand in more modules (planted.csv).
PLANTED = {
    "experiments.slides_tables": ["test_protocols.py"],
    "report.running": ["test_report.py -k thread"],
    "your_data.advice": ["test_models.py"],
}


def tests_of(module):
    """Arguments of pytest for a module's tests."""
    return [
        part if not part.startswith("test_") else f"tests/{part}"
        for entry in (TESTS | PLANTED)[module.removeprefix("mebnb.")]
        for part in shlex.split(entry)
    ]


def room(module):
    """The room of a module."""
    return module.split(".")[1]
