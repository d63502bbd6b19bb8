"""Random files of strangers: read exactly, refused, or what was done is said."""

from collections import Counter

import pytest
from dialects import WRITERS, make, outcome


def outcomes(seeds, path):
    """How many files ended in which way, and those of which something is silent."""
    counts, silent = Counter(), []
    for seed in seeds:
        made = make(seed)
        ended, differs = outcome(made, path)
        counts[ended] += 1
        if ended == "silent":
            silent.append((seed, made.features, differs))
    return counts, silent


def check(seeds, path):
    counts, silent = outcomes(seeds, path)
    print(dict(counts))
    assert not silent, silent[:5]
    assert min(counts[ended] for ended in ("exact", "refused", "said")) > 0
    assert counts["exact"] > len(seeds) / 2
    return counts


def test_no_file_is_read_wrongly_in_silence(tmp_path):
    check(range(200), tmp_path / "some.csv")


@pytest.mark.large
def test_no_file_of_two_thousand_is_read_wrongly_in_silence(tmp_path):
    check(range(200, 2200), tmp_path / "some.csv")


def test_generator_repeats_itself_and_uses_every_way_of_writing():
    first = [make(seed) for seed in range(200)]
    assert [made.content for made in first] == [make(s).content for s in range(200)]
    assert {made.features[0] for made in first} == set(WRITERS)


def test_a_wrong_value_is_not_taken_for_exact(tmp_path):
    seeds = [s for s in range(40) if outcome(make(s), tmp_path / "f.csv")[0] == "exact"]
    for seed in seeds:
        made = make(seed)
        name = next(iter(made.measures))
        made.measures[name] = made.measures[name] + 1.0
        assert outcome(made, tmp_path / "f.csv")[0] != "exact"
