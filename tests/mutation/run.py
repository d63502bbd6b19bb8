"""Plant one small fault at a time and see whether the tests of its module notice.

`make mutate` runs this; `--help` tells how to take one module or a sample. A process
for each mutant would spend its time on imports, so the libraries are loaded once and
every mutant is a fork, with the module's source exchanged as it is imported. Kernels
run as plain Python, which keeps what they say and spares compiling each mutant.
"""

from __future__ import annotations

import argparse
import csv
import gc
import importlib.abc
import importlib.util
import itertools
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"
# nbval alone takes longer to load than most mutants take to die.
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE)]

import numpy as np  # noqa: E402
import plan  # noqa: E402
from choosing import Choosing, Measuring  # noqa: E402
from mutants import Mutant, mutants_of  # noqa: E402

SURVIVORS = HERE / "survivors.csv"
SCORES = HERE / "scores.csv"
FIELDS = ("module", "before", "after", "outcome")
COLUMNS = ("module", "one in", "mutants", "killed", "explained", "score %")
MEMORY = 8 << 30
"""Bytes that a mutant may take before it counts as killed."""


class Exchange(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import hook that gives a mutant's source for its module."""

    def __init__(self, mutant):
        self.mutant = mutant

    def find_spec(self, name, path=None, target=None):
        """Answer for the mutant's module alone."""
        if name != self.mutant.module:
            return None
        file = str(file_of(name))
        return importlib.util.spec_from_loader(name, self, origin=file)

    def exec_module(self, module):
        """Run the mutated source as the module's own."""
        module.__file__ = str(file_of(module.__name__))
        exec(compile(self.mutant.source, module.__file__, "exec"), module.__dict__)


def file_of(module):
    """The file of a module."""
    return ROOT.joinpath(*module.split(".")).with_suffix(".py")


def load_libraries():
    """What every test imports, except the package itself."""
    for name in plan.LIBRARIES:
        importlib.import_module(name)
    from hypothesis import Phase, settings

    # The same examples for every mutant, and no time spent on a smaller counterexample.
    settings.register_profile(
        "mutation",
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
    )
    if any(name.split(".")[0] == "mebnb" for name in sys.modules):
        raise RuntimeError("mebnb was imported before its mutants")


def fill_what_is_empty():
    """Give memory that nobody has written the same content for every mutant."""
    empty = np.empty

    def filled(shape, dtype=float, *arguments, **options):
        array = empty(shape, dtype, *arguments, **options)
        if array.dtype.kind == "f":
            array.fill(np.nan)
        return array

    np.empty = filled


def start(mutant, limit, plugin):
    """Fork a process that tests one mutant; its exit code is pytest's."""
    child = os.fork()
    if child:
        return child
    code = 3
    try:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        # Seconds of CPU, not of the clock: a busy machine kills no mutant.
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        sys.meta_path.insert(0, Exchange(mutant))
        fill_what_is_empty()
        os.chdir(ROOT)
        options = ["-q", "-p", "no:cacheprovider", "-p", "_hypothesis_pytestplugin"]
        options += ["--tb=no", "--hypothesis-profile=mutation", "--assert=plain"]
        # It searches all the memory of the libraries, twice.
        options += ["-p", "no:unraisableexception"]
        if isinstance(plugin, Choosing):
            options.append("-x")
        import pytest

        code = pytest.main(options + plan.tests_of(mutant.module), [plugin])
    finally:
        os._exit(int(code))


def run(mutants, limit, jobs, chosen):
    """Yield each mutant with its outcome: "killed" or "survived"."""
    waiting, running = list(reversed(mutants)), {}
    with tempfile.TemporaryDirectory() as folder:
        notes = (Path(folder, str(number)) for number in itertools.count())
        while waiting or running:
            while waiting and len(running) < jobs:
                mutant, note = waiting.pop(), next(notes)
                child = start(mutant, limit, Choosing(chosen, note))
                running[child] = mutant, note
            child, status = os.wait()
            mutant, note = running.pop(child)
            if note.exists():
                # What killed one mutant is likely to kill the next.
                killer = note.read_text(encoding="utf-8")
                chosen = [killer, *(name for name in chosen if name != killer)]
            survived = os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0
            yield mutant, "survived" if survived else "killed"


def chosen_tests(module, source):
    """The tests that pass in time on the module as it is, and those that do not."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "chosen")
        os.waitpid(start(Mutant(module, 0, "", "", source), 600, Measuring(file)), 0)
        return file.read_text().splitlines(), file.with_suffix(".out").read_text()


def seconds_of_the_original(module, source, chosen):
    """CPU seconds that the tests take on the module as it is."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    unharmed = Mutant(module, 0, "", "", source)
    ((_, outcome),) = run([unharmed], 600, 1, chosen)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if outcome != "survived":
        sys.exit(f"{module}: the tests fail without a fault")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def read(file):
    """Rows of a CSV; none where there is no file."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def key(row):
    """What tells a mutant from another: its module and its line, before and after."""
    return row["module"], row["before"], row["after"]


def test_module(module, arguments, done):
    """Test the mutants of a module that are not done, and note each as it ends."""
    source = file_of(module).read_text(encoding="utf-8")
    mutants = planted_in(module, source)
    if module.removeprefix("mebnb.") in plan.TESTS and not arguments.planted:
        mutants += [
            m for m in mutants_of(module, source) if m.in_share(arguments.every)
        ]
    left = [mutant for mutant in mutants if mutant.key not in done]
    rows = [done[mutant.key] for mutant in mutants if mutant.key in done]
    if left:
        chosen, left_out = chosen_tests(module, source)
        took = seconds_of_the_original(module, source, chosen)
        print(f"{module}: {len(chosen)} tests, {took:.1f} s; left out as slow:")
        print(*(f"  {name}" for name in left_out.splitlines()), sep="\n", flush=True)
        begun = time.monotonic()
        with arguments.results.open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            for mutant, outcome in run(left, int(5 + 4 * took), arguments.jobs, chosen):
                row = dict(zip(FIELDS, (*mutant.key, outcome)))
                writer.writerow(row.values())
                file.flush()
                rows.append(row)
                if outcome == "survived":
                    print(f"  {mutant.line}: {mutant.before}\n     -> {mutant.after}")
        spent = time.monotonic() - begun
        print(f"{module}: {len(left)} mutants in {spent:.0f} s")
    return rows


def planted_in(module, source):
    """Mutants made by hand, of faults that no operator makes."""
    rows = [row for row in read(HERE / "planted.csv") if row["module"] == module]
    mutants = []
    for row in rows:
        before, after = row["before"], row["after"]
        if before not in source:
            sys.exit(f"planted.csv: {module} has no line {before!r}")
        line = source[: source.index(before)].count("\n") + 1
        mutated = source.replace(before, after)
        mutants.append(Mutant(module, line, before, after, mutated))
    return mutants


def report(rows, explained):
    """Print the scores of each room; the survivors that nobody has explained."""
    print("room, mutants, killed, score %, score % without the explained")
    rooms = Counter(plan.room(row["module"]) for row in rows)
    for room, total in rooms.items():
        here = [row for row in rows if plan.room(row["module"]) == room]
        survived = [key(row) for row in here if row["outcome"] == "survived"]
        known = sum(k in explained for k in survived)
        killed = total - len(survived)
        without = 100 * killed / max(total - known, 1)
        print(f"{room}, {total}, {killed}, {100 * killed / total:.1f}, {without:.1f}")
    return [
        row
        for row in rows
        if row["outcome"] == "survived" and key(row) not in explained
    ]


def keep_scores(rows, explained, every):
    """Write the scores of these modules into the table, beside those of the others."""
    table = {row["module"]: row for row in read(SCORES)}
    for module in sorted({row["module"] for row in rows}):
        here = [row for row in rows if row["module"] == module]
        left = [key(row) for row in here if row["outcome"] == "survived"]
        known, total = sum(k in explained for k in left), len(here)
        killed = total - len(left)
        score = f"{100 * killed / max(total - known, 1):.1f}"
        values = (module, every, total, killed, known, score)
        table[module] = dict(zip(COLUMNS, values, strict=True))
    with SCORES.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table[module] for module in sorted(table))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", help="modules, such as solvers.steps")
    parser.add_argument("--every", type=int, default=1, help="one mutant in so many")
    parser.add_argument("--planted", action="store_true", help="those by hand alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--results", type=Path, default=ROOT / ".mutation.csv")
    parser.add_argument("--resume", action="store_true", help="keep what is killed")
    parser.add_argument("--scores", action="store_true", help=f"write {SCORES.name}")
    arguments = parser.parse_args()
    if not arguments.resume:
        arguments.results.unlink(missing_ok=True)
    done = {key(r): r for r in read(arguments.results) if r["outcome"] == "killed"}
    with arguments.results.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(done.values())
    modules = [
        m
        for m in plan.TESTS | plan.PLANTED
        if not arguments.only or m in arguments.only
    ]
    load_libraries()
    gc.freeze()
    rows = []
    for module in modules:
        rows += test_module(f"mebnb.{module}", arguments, done)
    explained = {key(row) for row in read(SURVIVORS)}
    unexplained = report(rows, explained)
    if arguments.scores:
        keep_scores(rows, explained, arguments.every)
    for row in unexplained:
        print(f"not explained: {row['module']}: {row['before']} -> {row['after']}")
    sys.exit(bool(unexplained))


if __name__ == "__main__":
    main()
