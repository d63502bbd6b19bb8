"""Formulas of a notebook, counted without the code that exports them."""

import re

CODE = re.compile(
    r"^(```|~~~).*?^\1[^\n]*$|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)", re.M | re.S
)
FORMULA = re.compile(
    r"\$\$.+?\$\$|\\\[.+?\\\]|\\\(.+?\\\)|\\begin\{(equation|align|gather)(\*?)\}.+?"
    r"\\end\{\1\2\}|\\eqref\{[^}]+\}|(?<![\\$])\$(?!\s)[^$]+?(?<![\s\\])\$(?!\d)",
    re.S,
)
TAG = re.compile(r"<(style|script|pre|code)\b.*?</\1>|<[^>]+>", re.S)


def written_formulas(notebook, outputs=True):
    """How many formulas stand in Markdown cells and in Markdown, LaTeX and HTML outputs."""
    count = 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            count += len(_formulas(CODE.sub(" ", cell.source)))
        for output in cell.get("outputs", []) if outputs else []:
            data = output.get("data", {})
            if "text/html" in data:
                count += len(_formulas(TAG.sub(" ", "".join(data["text/html"]))))
            elif "text/latex" in data:
                count += len(_formulas("".join(data["text/latex"])))
            elif "text/markdown" in data:
                count += len(_formulas(CODE.sub(" ", "".join(data["text/markdown"]))))
    return count


def _formulas(text):
    found = [match[0] for match in FORMULA.finditer(text)]
    return [formula for formula in found if not formula.startswith(r"\eqref")]
