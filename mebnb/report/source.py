"""A function's source as an output of a notebook, so that every page shows it."""

from __future__ import annotations

import ast
import inspect
import textwrap

__all__ = ["show_source"]


def show_source(*functions):
    """Show the source of functions, highlighted, in Jupyter and in exported pages.

    Of a docstring only the first line is shown: the formulas stand beside it.

    Parameters
    ----------
    *functions : function
    """
    from IPython.display import Markdown, display

    code = "\n\n".join(map(_listing, functions))
    display(Markdown(f"```python\n{code}```"))


def _listing(function):
    source = textwrap.dedent(inspect.getsource(function))
    told = ast.get_docstring(ast.parse(source).body[0], clean=False)
    return source.replace(told, told.splitlines()[0]) if told else source
