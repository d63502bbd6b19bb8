"""The command line: report, run, export, archive, sweep, check, data, fit.

Exit codes: 0 all went well; 1 a notebook, a page or a check failed; 2 the command
itself asks for something that does not exist; 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import re
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

from mebnb import __version__
from mebnb.report import CELL_TIMEOUT, ReportError
from mebnb.writing import CannotWrite, check_file

NEGATIVE = re.compile(r"-[\d.].*")
TRAINING = (
    *("label", "nominal", "columns", "leave", "scaling", "nu"),
    *("detector", "alpha", "fdr"),
)
"""Options of `mebnb fit` that say how to fit."""


def main(argv=None):
    """Run a command and return its exit code."""
    _spell_out()
    words = _shielded(sys.argv[1:] if argv is None else argv)
    try:
        with _flushed():
            arguments = _parsed(words)
            with _alone():
                return arguments.command(arguments)
    except (ReportError, CannotWrite) as error:
        _complain(error)
        return 2
    except KeyboardInterrupt:
        _complain("interrupted")
        return 130
    except BrokenPipeError:  # whoever reads us has seen enough, as `head` does
        _drop_output()
        return 0
    except OSError as error:
        _complain(f"{error.filename or 'standard output'}: {error.strerror or error}")
        _drop_output()
        return 2


def _drop_output():
    """Send what is still to be printed nowhere, so that no error comes at the end."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _spell_out():
    """Letters that the terminal does not know are shown by their code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _parsed(words):
    parser = _parser()
    if "_ARGCOMPLETE" in os.environ:  # a shell that asks what a tab stands for
        import argcomplete

        argcomplete.autocomplete(parser)
    arguments = parser.parse_args(words)
    for option in ("parameters", "grid"):
        given = getattr(arguments, option, [])
        setattr(arguments, option, [[word.strip() for word in ws] for ws in given])
    return arguments


@contextlib.contextmanager
def _flushed():
    """A full disk under the output is seen here, not when the interpreter ends."""
    try:
        yield
    finally:
        print(end="", flush=True)


@contextlib.contextmanager
def _alone():
    """No word of a library between our lines; being told to end is as Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)
        signal.signal(signal.SIGTERM, before)


# --- the commands --------------------------------------------------------------------


def report(arguments):
    """Run notebooks and export them with an index."""
    from mebnb.documents import all_entries
    from mebnb.report.making import export_stored, make_report
    from mebnb.report.notebooks import notebooks_folder, select_notebooks
    from mebnb.report.parameters import assign_parameters

    paths = select_notebooks(notebooks_folder(), arguments.only)
    parameters = assign_parameters(paths, arguments.parameters)
    if arguments.stored and arguments.parameters:
        raise ReportError("-p needs a run; leave it or --stored out")
    browser = _browser(arguments)
    if arguments.stored:
        made = export_stored(
            paths,
            arguments.out,
            with_code=not arguments.no_input,
            statements=all_entries(),
        )
    else:
        made = make_report(
            paths,
            parameters,
            arguments.out,
            jobs=arguments.jobs,
            with_code=not arguments.no_input,
            force=arguments.force,
            timeout=arguments.timeout,
            say=_progress(arguments),
            statements=all_entries(),
        )
    code = _told(made)
    print(made.index)
    if browser and not made.interrupted:
        from mebnb.report.book import print_book

        print(print_book(made.index, made.pages, browser))
    return code


def _told(made):
    """Say what went wrong with a report; return the exit code."""
    for word in made.notes + made.problems:
        _complain(word)
    if made.failed:
        _complain(f"failed: {', '.join(made.failed)}")
    if made.changed:
        _complain_of_changes(", ".join(made.changed))
    if made.interrupted:
        _complain("interrupted; what was finished is kept")
        return 130
    return int(bool(made.failed or made.changed or made.problems))


def run(arguments):
    """Run one notebook with checked parameters, as papermill does."""
    from mebnb.report.making import export_files
    from mebnb.report.notebooks import write_notebook
    from mebnb.report.parameters import read_parameter_file
    from mebnb.report.running import (
        CHANGED,
        FAILED,
        OK,
        errors_of,
        run_notebook,
        status_of,
    )

    path, out = _notebook(arguments.notebook), arguments.out
    given = read_parameter_file(arguments.file) if arguments.file else {}
    parameters = _checked(path, {**given, **dict(arguments.parameters)})
    if out.suffix != ".ipynb":
        raise ReportError(f"-o must name a notebook file, *.ipynb, found {out}")
    if out.resolve() == path.resolve():
        raise ReportError(f"-o would overwrite the notebook itself, {path}")
    check_file(out)
    say = _progress(arguments)
    say(f"{path.stem}: running")
    notebook = run_notebook(path, parameters, cwd=Path.cwd(), timeout=arguments.timeout)
    write_notebook(notebook, out)
    status, problems = status_of(notebook), []
    say(f"{path.stem}: {status}, {notebook.metadata['mebnb']['seconds']:.1f} s")
    if arguments.html:
        files, problems = export_files(
            [out], out.parent, with_code=not arguments.no_input
        )
        print(*files, sep="\n")
    for _, cell, output in errors_of(notebook)[:1]:
        what = f"{output.ename}: " if status == FAILED else ""
        _complain(f"{path.stem} {status}, {cell}: {what}{output.evalue}")
    if status == CHANGED:
        _complain_of_changes(path.stem)
    for problem in problems:
        _complain(problem)
    print(out)
    return int(status != OK or bool(problems))


def export(arguments):
    """Turn executed notebooks, from anywhere, into pages."""
    from mebnb.report.making import export_files

    browser = _browser(arguments)
    files, problems = export_files(
        arguments.files, arguments.out, with_code=not arguments.no_input
    )
    if browser:
        from mebnb.report.printing import print_pages

        print_pages(files, browser)
    for problem in problems:
        _complain(problem)
    print(files[0])
    return int(bool(problems))


def archive(arguments):
    """Keep a report in one file, or run the notebooks of such a file and compare."""
    if arguments.verify:
        return _verify(arguments)
    from mebnb.report.archiving import write_archive

    if arguments.out is None:
        raise ReportError("-o names the file to write, --verify one to verify")
    if arguments.out.suffix != ".zip":
        raise ReportError(f"-o must name a file *.zip, found {arguments.out}")
    check_file(arguments.out)
    if arguments.report:
        write_archive(arguments.report, arguments.out)
        code = 0
    else:
        code = _run_and_archive(arguments)
    if code == 0:
        print(arguments.out)
    return code


def _run_and_archive(arguments):
    from mebnb.documents import all_entries
    from mebnb.report.archiving import write_archive
    from mebnb.report.making import make_report
    from mebnb.report.notebooks import notebooks_folder, select_notebooks
    from mebnb.report.parameters import assign_parameters

    paths = select_notebooks(notebooks_folder())
    with tempfile.TemporaryDirectory(prefix="mebnb-") as folder:
        made = make_report(
            paths,
            assign_parameters(paths, []),
            folder,
            jobs=arguments.jobs,
            timeout=arguments.timeout,
            say=_progress(arguments),
            statements=all_entries(),
        )
        code = _told(made)
        if code == 0:
            write_archive(folder, arguments.out)
    return code


def _verify(arguments):
    from mebnb.report.verifying import verify_archive

    if arguments.report or arguments.out:
        raise ReportError("--verify takes no other file; leave DIR and -o out")
    verified = verify_archive(
        arguments.verify,
        jobs=arguments.jobs,
        timeout=arguments.timeout,
        say=_progress(arguments),
    )
    print(verified)
    if verified.interrupted:
        _complain("interrupted")
        return 130
    return int(not verified.passed)


def sweep(arguments):
    """Run one notebook over a grid of parameters and gather what it records."""
    from mebnb.report.running import CHANGED, OK
    from mebnb.report.sweeping import STATUS, read_grid, sweep

    path = _notebook(arguments.notebook)
    grid = [(name, values) for name, *values in arguments.grid]
    for name, values in grid:
        if not values:
            raise ReportError(f"-g {name} needs at least one value")
    points = read_grid(path, grid, arguments.parameters)
    made = sweep(
        path,
        points,
        arguments.out,
        jobs=arguments.jobs,
        scheduler=arguments.scheduler,
        timeout=arguments.timeout,
        say=_progress(arguments),
    )
    if made.interrupted:
        _complain("interrupted; the same command completes the sweep")
        code = 130
    else:
        changed = int((made.table[STATUS] == CHANGED).sum())
        failed = int((made.table[STATUS] != OK).sum()) - changed
        if failed:
            _complain(f"{failed} of {len(points)} runs failed")
        if changed:
            _complain_of_changes(f"{changed} of {len(points)} runs")
        code = int(bool(failed or changed))
    print(*made.files, sep="\n")
    return code


def check(arguments):
    """Check the derivations: every equation, claim and table rule of the documents."""
    from mebnb.documents import check_derivations
    from mebnb.documents.checks import told_failure

    began = time.perf_counter()
    try:
        table = check_derivations(
            arguments.document, arguments.id or None, arguments.jobs
        )
    except ValueError as error:
        raise ReportError(error) from None
    print(f"{'entry':<16} {'as printed':<16} {'check':<8} place")
    for row in table.frame.itertuples():
        if row.status != "run":
            word = "no data"
        else:
            word = "passed" if row.passed else "FAILED"
        failure = told_failure(row)
        told = f"; {failure}" if failure else ""
        print(f"{row.id:<16} {row.verdict:<16} {word:<8} {row.place}{told}")
    print(f"{table.summary()}; {time.perf_counter() - began:.0f} s")
    return int(not table.passed)


def data(arguments):
    """List, fetch or verify the data sets."""
    from mebnb import datasets

    if arguments.action == "list":
        print(datasets.list_datasets().to_string())
        return 0
    if arguments.action == "verify":
        table = datasets.verify_datasets()
        print(table.to_string())
        return int(any(verified is False for verified in table["verified"]))
    failed = False
    for name in arguments.names:
        try:
            print(f"{name}: {datasets.fetch_dataset(name)}")
        except ValueError as error:
            raise ReportError(error) from None
        except datasets.DatasetNotAvailable as error:
            failed = True
            _complain(error)
    return int(failed)


def fit(arguments):
    """Fit a ball to a CSV or Parquet file, and score that file or another."""
    from mebnb.your_data import TableError
    from mebnb.your_data.fit import fit_file, score_file
    from mebnb.your_data.many import is_many
    from mebnb.your_data.model import is_model

    asked = vars(arguments)
    for name in ("label", "nominal", "identity"):
        if asked[name] is not None:  # a blank shields a leading minus, see _shielded
            asked[name] = asked[name].removeprefix(" ")
    for name in ("columns", "leave"):
        asked[name] = [word.removeprefix(" ") for word in asked[name]]
    training = {name: asked[name] for name in TRAINING if asked[name] not in (None, [])}
    _check_outputs(arguments)
    is_fitted = is_model(arguments.file)
    if is_fitted:
        _refuse_training_options(arguments, training)
    many = any(map(is_many, filter(None, (arguments.file, arguments.score))))
    try:
        if many:
            made = _fit_many(arguments, training, is_fitted)
        elif is_fitted:
            made = score_file(
                arguments.file, arguments.score, identity=arguments.identity
            )
        else:
            made = fit_file(
                arguments.file, arguments.score, identity=arguments.identity, **training
            )
        if arguments.model:
            made.model.save(arguments.model)
        if arguments.out:
            made.write_scores(arguments.out)
    except TableError as error:
        raise ReportError(error) from None
    print(json.dumps(made.to_dict(), indent=1) if arguments.json else made)
    return 0


def _fit_many(arguments, training, is_fitted):
    """Fit to a folder or pattern of files, or score them by a model that is kept."""
    from mebnb.your_data import TableError
    from mebnb.your_data.fit import load_any_model
    from mebnb.your_data.many import fit_many, score_many
    from mebnb.your_data.model import BallModel

    if arguments.score is not None and not is_fitted:
        raise TableError(
            "a folder or pattern is fitted or scored alone: keep the ball with --model, "
            "then name it and --score"
        )
    refused = [name for name in training if name not in ("columns", "scaling", "nu")]
    if arguments.identity is not None:
        refused.append("identity")
    if refused:
        raise TableError(
            "a folder or pattern is read block by block, which allows --columns, "
            f"--scaling and --nu; leave --{refused[0]} out, or name one file"
        )
    if not is_fitted:
        return fit_many(arguments.file, **training)
    model = load_any_model(arguments.file)
    if not isinstance(model, BallModel):
        raise TableError(
            "--score must name one file where a model has p-values, which belong to "
            f"rows that are judged together; found {arguments.score}"
        )
    return score_many(model, arguments.score)


def _check_outputs(arguments):
    """Refuse files that could not be written, or would replace one that is read."""
    try:
        _check_paths(arguments)
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, ReportError):
            raise
        raise ReportError(f"a file name cannot be used: {error}") from None


def _check_paths(arguments):
    from mebnb.your_data.many import files_of, is_many

    read = []
    for path in filter(None, (arguments.file, arguments.score)):
        read += files_of(path) if is_many(path) else [path] * path.exists()
    taken = {path.resolve() for path in read}
    for option, path in (("-o", arguments.out), ("--model", arguments.model)):
        if path is None:
            continue
        linked = path.exists() and any(path.samefile(other) for other in read)
        if path.resolve() in taken or linked:
            raise ReportError(f"{option} would overwrite {path}")
        if not path.absolute().parent.is_dir():
            raise ReportError(
                f"{option} names a folder that is not there, {path.parent}"
            )
        if path.is_dir():
            raise ReportError(f"{option} must name a file, found the folder {path}")
        replaced = path.is_file() or not path.exists()  # a device is written to instead
        if replaced and not os.access(path.absolute().parent, os.W_OK):
            raise ReportError(
                f"{option} names a folder that is read-only, {path.parent}"
            )
        taken.add(path.resolve())
    if arguments.model and arguments.model.suffix.lower() != ".json":
        raise ReportError(f"--model must name a file *.json, found {arguments.model}")


def _refuse_training_options(arguments, training):
    if arguments.score is None:
        raise ReportError(f"{arguments.file} is a model; name a file to --score")
    if training:
        options = ", ".join(f"--{name}" for name in training)
        raise ReportError(f"{arguments.file} is fitted already; leave {options} out")


def _notebook(word):
    """The notebook that a path, number or name stands for."""
    from mebnb.report.notebooks import notebooks_folder, select_notebooks

    path = Path(word)
    if path.suffix == ".ipynb" or path.exists():
        return path
    return select_notebooks(notebooks_folder(), [word])[0]


def _checked(path, given):
    """Parameters checked; a refusal lists what the notebook has."""
    from mebnb.report.notebooks import read_notebook
    from mebnb.report.parameters import assign_parameters, notebook_parameters

    known = notebook_parameters(read_notebook(path))
    try:
        return assign_parameters([path], given.items())[path]
    except ReportError as error:
        raise ReportError(
            "\n  ".join([str(error), *map(str, known.values())])
        ) from None


def _browser(arguments):
    """The browser that prints, looked for before anything runs."""
    from mebnb.report.printing import find_browser

    return find_browser() if arguments.pdf else None


def _complain_of_changes(runs):
    _complain(f"inputs changed meanwhile: {runs}; the same command runs these again")


def _progress(arguments):
    """What is done with a line of progress."""
    from mebnb.report.runner import say

    return (lambda line: None) if arguments.quiet else say


def _complain(sentence):
    from mebnb.report.words import printable  # a sentence may hold words of a file

    print(f"mebnb: {printable(str(sentence))}", file=sys.stderr)


# --- the arguments -------------------------------------------------------------------


def _parser():
    parser = argparse.ArgumentParser(
        prog="mebnb",
        description="The minimum enclosing ball in notebooks: run, check, export.",
        epilog="A tab completes words after: "
        'eval "$(register-python-argcomplete mebnb)"',
    )
    parser.add_argument("--version", action="version", version=f"mebnb {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_report(commands)
    _add_run(commands)
    _add_export(commands)
    _add_archive(commands)
    _add_sweep(commands)
    _add_check(commands)
    _add_data(commands)
    _add_fit(commands)
    return parser


def _add_report(commands):
    command = _command(
        commands, "report", report, "Run notebooks and export them with an index."
    )
    command.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NOTEBOOK",
        help="a notebook by number or name, or a comma list; may be repeated",
    ).completer = _notebook_names
    _add_parameters(command)
    command.add_argument(
        "--out",
        type=Path,
        default=Path("reports"),
        metavar="DIR",
        help="default: reports",
    )
    command.add_argument(
        "--jobs", type=_count, default=1, metavar="N", help="notebooks run side by side"
    )
    command.add_argument(
        "--stored", action="store_true", help="export the notebooks as committed"
    )
    command.add_argument(
        "--force", action="store_true", help="run also what has not changed"
    )
    _add_no_input(command)
    command.add_argument(
        "--pdf",
        action="store_true",
        help="print all of it as one book, book.pdf, with an installed Chromium",
    )
    _add_timeout(command)
    _add_quiet(command)


def _add_run(commands):
    command = _command(
        commands,
        "run",
        run,
        "Run one notebook with checked parameters, as papermill does.",
    )
    command.add_argument(
        "notebook", help="a path, or a number or name of ours"
    ).completer = _notebook_names
    _add_parameters(command)
    command.add_argument(
        "-f", "--file", metavar="YAML", help="parameters from a file; -p wins over it"
    )
    command.add_argument(
        "-o", "--out", type=Path, required=True, metavar="OUT", help="executed notebook"
    )
    command.add_argument(
        "--html", action="store_true", help="write a page beside the notebook, too"
    )
    _add_no_input(command)
    _add_timeout(command)
    _add_quiet(command)


def _add_export(commands):
    command = _command(
        commands,
        "export",
        export,
        "Turn executed notebooks, from anywhere, into pages.",
    )
    command.add_argument("files", type=Path, nargs="+", metavar="FILE.ipynb")
    command.add_argument(
        "-o",
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder of the pages",
    )
    _add_no_input(command)
    command.add_argument(
        "--pdf", action="store_true", help="print each page with an installed Chromium"
    )


def _add_archive(commands):
    command = _command(
        commands,
        "archive",
        archive,
        "Keep a report in one file, or run the notebooks of such a file and compare.",
    )
    command.usage = (
        "mebnb archive [DIR] -o FILE.zip [options]\n"
        "       mebnb archive --verify FILE.zip [options]"
    )
    command.add_argument(
        "report",
        type=Path,
        nargs="?",
        metavar="DIR",
        help="a finished report (default: run all notebooks for it)",
    )
    command.add_argument(
        "-o", "--out", type=Path, metavar="FILE.zip", help="the archive"
    )
    command.add_argument(
        "--verify",
        type=Path,
        metavar="FILE.zip",
        help="run the notebooks of this clone as the archive's were run, and compare "
        "each number, table and figure; nothing out of the archive is run",
    )
    command.add_argument(
        "--jobs", type=_count, default=1, metavar="N", help="notebooks run side by side"
    )
    _add_timeout(command)
    _add_quiet(command)


def _add_sweep(commands):
    command = _command(
        commands,
        "sweep",
        sweep,
        "Run one notebook over a grid of parameters and gather what it records.",
    )
    command.add_argument(
        "notebook", help="a path, or a number or name of ours"
    ).completer = _notebook_names
    command.add_argument(
        "-g",
        "--grid",
        nargs="+",
        action="append",
        required=True,
        metavar=("NAME", "VALUE"),
        help="values of one parameter; 0:20 is a range; may be repeated",
    )
    _add_parameters(command)
    command.add_argument(
        "-o", "--out", type=Path, default=Path("sweep"), metavar="DIR",
        help="default: sweep",
    )  # fmt: skip
    command.add_argument(
        "--jobs", type=_count, default=1, metavar="N", help="runs at the same time"
    )
    command.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="run on the Dask cluster at tcp://host:port instead",
    )
    _add_timeout(command)
    _add_quiet(command)


def _add_check(commands):
    command = _command(
        commands,
        "check",
        check,
        "Check the derivations: every equation, claim and table rule of the documents.",
    )
    command.add_argument("--document", help="report, slides, me2 or derived")
    command.add_argument(
        "--id", action="append", help="one entry, such as R-E13; may be repeated"
    )
    command.add_argument(
        "--jobs", type=_count, default=1, metavar="N", help="processes that check"
    )


def _add_data(commands):
    command = _command(commands, "data", data, "List, fetch or verify the data sets.")
    actions = command.add_subparsers(required=True, metavar="ACTION", dest="action")
    actions.add_parser("list", help="the data sets and where they are")
    fetch = actions.add_parser("fetch", help="make sure that data sets are here")
    fetch.add_argument("names", nargs="+", metavar="NAME").completer = _dataset_names
    actions.add_parser("verify", help="verify what is here; nothing is downloaded")


def _add_fit(commands):
    command = _command(
        commands,
        "fit",
        fit,
        "Fit a ball to a CSV or Parquet file, and score that file or another.",
    )
    command.usage = "mebnb fit FILE [--score NEW] [-o SCORES.csv] [options]"
    command.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="CSV or Parquet; or a model kept before; or a folder or a quoted pattern of "
        "Parquet files, which are read block by block: the hard ball of all rows, or with "
        "--nu the soft ball of a sample",
    )
    command.add_argument(
        "--score", type=Path, metavar="NEW", help="the file to score (default: FILE)"
    )
    command.add_argument(
        "-o", "--out", type=Path, metavar="SCORES.csv", help="a score for each row"
    )
    command.add_argument(
        "--model", type=Path, metavar="MODEL.json", help="keep the fitted ball"
    )
    command.add_argument(
        "--label", metavar="COLUMN", help="tells nominal rows from others"
    )
    command.add_argument(
        "--nominal",
        metavar="VALUE",
        help="the nominal label (default: the most frequent)",
    )
    command.add_argument(
        "--columns", nargs="+", default=[], metavar="COLUMN", help="use these alone"
    )
    command.add_argument(
        "--leave", nargs="+", default=[], metavar="COLUMN", help="leave these out"
    )
    command.add_argument("--identity", metavar="COLUMN", help="names the rows")
    command.add_argument("--scaling", help="standard (default), minmax or none")
    command.add_argument(
        "--nu",
        type=float,
        help="largest share of training rows outside; 0 for the hard ball (default 0.05)",
    )
    command.add_argument(
        "--detector",
        help="auto, ball, soft, local, whitened or committee; with p-values over nominal "
        "rows that are split off (auto where --alpha or --fdr is given, else the ball of "
        "--nu by its own radius)",
    )
    command.add_argument(
        "--alpha",
        type=float,
        help="rate of false alarms among new nominal rows (0.05 where --detector or "
        "--fdr is given)",
    )
    command.add_argument(
        "--fdr",
        type=float,
        help="share of false ones among discoveries, rows that are flagged together",
    )
    command.add_argument("--json", action="store_true", help="print JSON")


def _command(commands, name, function, text):
    command = commands.add_parser(name, help=text, description=text)
    command.set_defaults(command=function)
    return command


def _notebook_names(**_):
    from mebnb.report.notebooks import list_notebooks, notebooks_folder

    return [path.stem for path in list_notebooks(notebooks_folder())]


def _dataset_names(**_):
    from mebnb.datasets.cards import CARDS

    return list(CARDS)


def _add_parameters(command):
    command.add_argument(
        "-p",
        "--parameters",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "VALUE"),
        help="a parameter of the notebooks; a list as JSON; may be repeated",
    )


def _add_no_input(command):
    command.add_argument(
        "--no-input", action="store_true", help="leave the code cells out of the pages"
    )


def _add_timeout(command):
    command.add_argument(
        "--timeout",
        type=_seconds,
        default=CELL_TIMEOUT,
        metavar="SECONDS",
        help=f"longest time for one cell (default {CELL_TIMEOUT})",
    )


def _add_quiet(command):
    command.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="no lines of progress; what was made is named as always",
    )


def _shielded(words):
    """Let values such as -1e-5 pass argparse, which would take them for options."""
    words = list(words)
    for at, word in enumerate(words):
        if word in ("-p", "--parameters"):
            value = slice(at + 1, at + 3)
            words[value] = [" " + w if w.startswith("-") else w for w in words[value]]
        elif NEGATIVE.fullmatch(word):
            words[at] = " " + word
    return words


def _count(text):
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"must be a positive int, found {text!r}")


def _seconds(text):
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if 0 < seconds < float("inf"):
        return seconds
    raise argparse.ArgumentTypeError(f"must be seconds above 0, found {text!r}")


if __name__ == "__main__":
    sys.exit(main())
