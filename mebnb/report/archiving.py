"""A report as one file: an RO-Crate in a zip, which `verifying` compares with a rerun.

It holds the executed notebooks, the pages, what the data are and under which licence,
the lock files, what machine each run was made on, and the packages of this environment,
which has the versions of the runs (`is_current`). Each file stands in the crate's
metadata with its sha256.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import zipfile
from datetime import datetime, timedelta
from pathlib import Path

from mebnb import __version__
from mebnb.report import ReportError
from mebnb.report.index import TITLE
from mebnb.report.making import KEPT, is_current
from mebnb.report.notebooks import (
    CLONE,
    list_notebooks,
    notebooks_folder,
    read_notebook,
    title_of,
)
from mebnb.report.pages import named_cards
from mebnb.report.parameters import own_files
from mebnb.report.running import OK, status_of
from mebnb.writing import write_file

METADATA = "ro-crate-metadata.json"
CRATE = "1.2"  # the version of RO-Crate; its context knows sha256
OF_CLONE = ("LICENSE", "requirements.lock", "requirements.sha256.lock")
FORMATS = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".ipynb": "application/x-ipynb+json",
    ".json": "application/json",
}
LICENCES = {
    "Artistic-2.0": "https://spdx.org/licenses/Artistic-2.0",
    "BSD-3-Clause": "https://spdx.org/licenses/BSD-3-Clause",
    "CC BY 4.0": "https://creativecommons.org/licenses/by/4.0/",
}


def write_archive(report, file):
    """Write a finished report into one file, the same bytes each time.

    Parameters
    ----------
    report : path
        The folder that `make_report` left.
    file : path

    Raises
    ------
    ReportError
        When the folder holds no report, or one whose runs failed, were made of other
        notebooks, data or packages than those that are here, or read a file of one's
        own.
    CannotWrite
    """
    report = Path(report)
    runs = _runs(report)
    files = {f"{KEPT}/{name}.ipynb": content for name, (content, _) in runs.items()}
    files |= {page.name: page.read_bytes() for page in sorted(report.glob("*.html"))}
    notebooks = {name: notebook for name, (_, notebook) in runs.items()}
    files |= _surroundings(notebooks)
    files = {METADATA: _metadata(notebooks, files), **dict(sorted(files.items()))}
    write_file(file, lambda stream: _zip(files, stream))


# --- what goes in --------------------------------------------------------------------


def _runs(report):
    """The executed notebooks: name -> (bytes, notebook)."""
    kept = list_notebooks(report / KEPT)
    if not kept or not (report / "index.html").is_file():
        raise ReportError(f"{report} is not a finished report; make one: mebnb report")
    runs = {}
    for path in kept:
        content, notebook = path.read_bytes(), read_notebook(path)
        _check(path.stem, path, notebook)
        runs[path.stem] = content, notebook
    return runs


def _check(name, path, notebook):
    """Refuse a run that nobody could repeat from this clone."""
    given = notebook.metadata.get("papermill", {}).get("parameters", {})
    if "mebnb" not in notebook.metadata:
        raise ReportError(f"{name} was not run for this report; an archive holds runs")
    if status_of(notebook) != OK:
        raise ReportError(f"{name}: {status_of(notebook)}; an archive holds whole runs")
    if own_files(given):
        raise ReportError(
            f"{name} was run on a file of its own, which an archive does not hold"
        )
    if not is_current(path, notebooks_folder() / path.name, given):
        raise ReportError(
            f"{name} was run with another notebook, package or data than are here; "
            "make the report again"
        )


def _surroundings(notebooks):
    """What the runs stand on: licence, lock files, data, machine and packages."""
    files = {
        name: (CLONE / name).read_bytes()
        for name in OF_CLONE
        if (CLONE / name).is_file()
    }
    cards = {
        name: card
        for nb in notebooks.values()
        for name, card in named_cards(nb).items()
    }
    files["data.json"] = _json([_card(card) for card in _sorted(cards)])
    files["machine.json"] = _json(
        {name: _made_on(nb) for name, nb in notebooks.items()}
    )
    files["packages.txt"] = "".join(f"{line}\n" for line in _packages()).encode()
    return files


def _card(card):
    return {
        "name": card.name,
        "title": card.title,
        "source": card.source,
        "doi": card.doi,
        "licence": card.licence,
        "rows": card.rows,
        "columns": card.columns,
        "sha256": card.sha256,
        "sha256 of": "file" if card.file_sha256 else "values",
    }


def _made_on(notebook):
    """The Python and the machine of a run; one of an older mebnb noted no machine."""
    about = notebook.metadata["mebnb"]
    return {"python": about["provenance"]["Python"], **about.get("machine", {})}


def _sorted(cards):
    return [cards[name] for name in sorted(cards)]


def _packages():
    """All packages of this environment, as pip's freeze has them."""
    found = importlib.metadata.distributions()
    return sorted({f"{d.name.lower()}=={d.version}" for d in found})


def _json(content):
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


# --- the metadata --------------------------------------------------------------------


def _metadata(notebooks, files):
    from rocrate.rocrate import ROCrate

    crate = ROCrate(version=CRATE)
    crate.name = TITLE
    crate.description = (
        "Notebooks about the minimum enclosing ball as they were run, their pages, and "
        "what the runs were made with."
    )
    # Of the runs, not of the packing: the same report gives the same file.
    crate.datePublished = max(_ended(notebook) for notebook in notebooks.values())
    crate.license = _licence(crate, "BSD-3-Clause")
    software = _entity(
        crate,
        "#mebnb",
        "SoftwareApplication",
        name="mebnb",
        version=__version__,
        softwareRequirements={"@id": "requirements.lock"},
    )
    for name, content in sorted(files.items()):
        crate.add_file(dest_path=name, properties=_file(name, content))
    crate.mainEntity = {"@id": "index.html"}
    for name, notebook in notebooks.items():
        _add_run(crate, name, notebook, software)
    return _json(crate.metadata.generate())


def _file(name, content):
    return {
        "name": name,
        "encodingFormat": FORMATS.get(Path(name).suffix, "text/plain"),
        "contentSize": str(len(content)),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _add_run(crate, name, notebook, software):
    """How a notebook came about: when, with what, on which data."""
    about = notebook.metadata["mebnb"]
    cards = named_cards(notebook)
    crate.dereference(f"{KEPT}/{name}.ipynb")["name"] = title_of(notebook, name)
    action = _entity(
        crate,
        f"#run-{name}",
        "CreateAction",
        name=f"Run of {name}",
        startTime=about["began"],
        endTime=_ended(notebook),
        instrument={"@id": software.id},
        result={"@id": f"{KEPT}/{name}.ipynb"},
        description=json.dumps(about["provenance"], sort_keys=True),
    )
    action["object"] = [_data(crate, card) for card in _sorted(cards)]
    crate.root_dataset.append_to("mentions", action)


def _ended(notebook):
    about = notebook.metadata["mebnb"]
    ended = datetime.fromisoformat(about["began"]) + timedelta(seconds=about["seconds"])
    return ended.isoformat(timespec="seconds")


def _data(crate, card):
    return _entity(
        crate,
        f"#data-{card.name}",
        "Dataset",
        name=card.title,
        citation=card.source,
        identifier=card.doi,
        license=_licence(crate, card.licence),
        sha256=card.sha256,
    )


def _licence(crate, name):
    return _entity(crate, LICENCES.get(name, f"#{name}"), "CreativeWork", name=name)


def _entity(crate, name_in_crate, kind, /, **properties):
    """An entity of the crate, made when it is first asked for."""
    from rocrate.model import ContextEntity

    found = crate.dereference(name_in_crate)
    if found is None:
        properties = {"@type": kind, **{k: v for k, v in properties.items() if v}}
        found = crate.add(ContextEntity(crate, name_in_crate, properties=properties))
    return found


# --- the file ------------------------------------------------------------------------


def _zip(files, stream):
    """Members without times or rights of this machine, in the order given."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(name)  # of 1980
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system, member.external_attr = 3, 0o644 << 16
            archive.writestr(member, content)
