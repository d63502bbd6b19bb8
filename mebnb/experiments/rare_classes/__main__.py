"""The full protocol in one command.

`python -m mebnb.experiments.rare_classes --repeats 10 --out FILE` writes one row a fit. The same
machine and lock file give the same bytes. With `--standardised` it is the short run in
which features are standardised.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from mebnb.experiments.rare_classes.running import (
    full_protocol,
    run,
    standardised_protocol,
)
from mebnb.learning.rare_classes import has_c50
from mebnb.writing import CannotWrite, check_file, write_file


def main(arguments=None):
    """Run the protocol, write its file, and return the exit code."""
    options = _options(arguments)
    try:
        check_file(options.out)  # now, not after a quarter of an hour of fits
        _write_run(options)
    except CannotWrite as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _write_run(options):
    protocol = standardised_protocol if options.standardised else full_protocol
    if not options.standardised and not has_c50():
        print("c50py is not installed: no C5.0 trees", file=sys.stderr)
    began, last = time.process_time(), [None]

    def tell(fit):
        group = fit.experiment, fit.dataset, fit.positives
        if group != last[0]:
            last[0] = group
            left = "" if fit.positives is None else f", {fit.positives} positives"
            spent = time.process_time() - began
            print(f"{spent:6.0f} s  {fit.experiment}: {fit.dataset}{left}", flush=True)

    table = run(protocol(options.repeats), tell)
    text = table.to_csv(index=False, float_format="%.6f", lineterminator="\n")
    write_file(options.out, text)
    print(f"{time.process_time() - began:6.0f} s  {len(table)} fits in {options.out}")


def _options(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m mebnb.experiments.rare_classes",
        description="The full protocol in one command.",
    )
    parser.add_argument("--repeats", type=int, default=10, help="splits a set")
    parser.add_argument(
        "--standardised",
        action="store_true",
        help="only ME2 on standardised features, with and without its ellipsoids",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the CSV file"
    )
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, found {options.repeats}")
    return options


if __name__ == "__main__":
    sys.exit(main())
