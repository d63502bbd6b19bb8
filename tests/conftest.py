"""The same examples in every run: a test that fails today fails tomorrow."""

import pytest
from hypothesis import settings

# `pytest --hypothesis-profile=default` looks for new ones.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of the reruns of a whole notebook the first is for every run, others are `large`."""
    for item in items:
        given = getattr(item, "callspec", None)
        again = given is not None and given.indices.get("parameters", 0) > 0
        if again and item.get_closest_marker("kernel"):
            item.add_marker(pytest.mark.large)
