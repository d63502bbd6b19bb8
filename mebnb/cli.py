"""The command line: `mebnb report`, `run`, `export`, `check`, `data`.

Exit codes: 0 all went well; 1 a notebook, a page or a check failed; 2 the command
itself asks for something that does not exist; 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import signal
import sys
import warnings
from pathlib import Path

from mebnb.report import ReportError


def main(argv=None):
    """Run a command and return its exit code."""
    arguments = _parser().parse_args(_shielded(sys.argv[1:] if argv is None else argv))
    try:
        with _quiet():
            return arguments.command(arguments)
    except ReportError as error:
        print(f"mebnb: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("mebnb: interrupted", file=sys.stderr)
        return 130


@contextlib.contextmanager
def _quiet():
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
    from mebnb.report.making import export_stored, make_report
    from mebnb.report.notebooks import notebooks_folder, select_notebooks
    from mebnb.report.parameters import assign_parameters

    paths = select_notebooks(notebooks_folder(), arguments.only)
    parameters = assign_parameters(paths, _given(arguments))
    if arguments.stored:
        if arguments.parameters:
            raise ReportError("-p needs a run; leave it or --stored out")
        made = export_stored(paths, arguments.out, with_code=not arguments.no_input)
    else:
        made = make_report(
            paths,
            parameters,
            arguments.out,
            jobs=arguments.jobs,
            with_code=not arguments.no_input,
            force=arguments.force,
            timeout=arguments.timeout,
        )
    for problem in made.problems:
        print(f"mebnb: {problem}", file=sys.stderr)
    if made.failed:
        print(f"mebnb: failed: {', '.join(made.failed)}", file=sys.stderr)
    if made.interrupted:
        print("mebnb: interrupted; what was finished is kept", file=sys.stderr)
    print(made.index)
    return 130 if made.interrupted else int(bool(made.failed or made.problems))


# --- the arguments -------------------------------------------------------------------


def _parser():
    parser = argparse.ArgumentParser(
        prog="mebnb",
        description="The minimum enclosing ball in notebooks: run, check, export.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = _command(commands, "report", report)
    command.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NOTEBOOK",
        help="a notebook by number or name, or a comma list; may be repeated",
    )
    _add_parameters(command)
    command.add_argument(
        "--out", type=Path, default=Path("reports"), metavar="DIR", help="default: reports"
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
    _add_page_options(command)
    _add_timeout(command)
    return parser


def _command(commands, name, function):
    text = function.__doc__.splitlines()[0]
    command = commands.add_parser(name, help=text, description=text)
    command.set_defaults(command=function)
    return command


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


def _given(arguments):
    return [(name.strip(), value.strip()) for name, value in arguments.parameters]


def _add_page_options(command):
    command.add_argument(
        "--no-input", action="store_true", help="leave the code cells out of the pages"
    )


def _add_timeout(command):
    from mebnb.report.running import CELL_TIMEOUT

    command.add_argument(
        "--timeout",
        type=_seconds,
        default=CELL_TIMEOUT,
        metavar="SECONDS",
        help=f"longest time for one cell (default {CELL_TIMEOUT})",
    )


def _shielded(words):
    """Let values such as -1e-5 pass argparse, which would take them for options."""
    words = list(words)
    for at, word in enumerate(words):
        if word in ("-p", "--parameters"):
            value = slice(at + 1, at + 3)
            words[value] = [" " + w if w.startswith("-") else w for w in words[value]]
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
