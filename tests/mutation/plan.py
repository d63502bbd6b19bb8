"""Which tests look at which module, the quickest to notice first.

With the kernels as plain Python a large cloud takes minutes: the tests that do are left
out by name. They run compiled in `make test`.
"""

LIBRARIES = (
    *("numpy", "scipy.linalg", "scipy.spatial", "scipy.optimize", "scipy.stats"),
    *("numba", "pandas", "sklearn.ensemble", "sklearn.svm", "sklearn.pipeline"),
    *("sklearn.model_selection", "sklearn.datasets", "sklearn.utils.estimator_checks"),
    *("pytest", "_hypothesis_pytestplugin", "hypothesis", "hypothesis.extra.numpy", "threadpoolctl"),
)

TESTS = {
    "published.compare": ["test_published.py"],
    "published.map": ["test_published.py", "test_notebooks.py -k document"],
    "solvers.rates": ["test_plain.py"],
    "solvers.steps": ["test_steps.py"],
}


def tests_of(module):
    """Arguments of pytest for a module's tests."""
    return [
        part if not part.startswith("test_") else f"tests/{part}"
        for entry in TESTS[module.removeprefix("mebnb.")]
        for part in entry.split()
    ]


def room(module):
    """The room of a module."""
    return module.split(".")[1]
