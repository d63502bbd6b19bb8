"""Download on demand, against a server on this machine; no network is used."""

import dataclasses
import errno
import gzip
import hashlib
import http.server
import io
import os
import struct
import subprocess
import sys
import tarfile
import threading
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mebnb.datasets import (
    CACHE,
    MIRROR,
    DatasetNotAvailable,
    download,
    fetch_dataset,
    list_datasets,
    load_dataset,
    places,
    verify_datasets,
)
from mebnb.datasets.cards import CARDS
from mebnb.datasets.converting import convert
from mebnb.datasets.rdata import read_rdata

MATERNAL = CARDS["maternal_risk"]
COMMITTED = Path(__file__).resolve().parents[1] / "data" / MATERNAL.file


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


GOOD = zipped(**{MATERNAL.member: COMMITTED.read_bytes(), "readme.txt": b"hello"})
CHANGED = zipped(**{MATERNAL.member: COMMITTED.read_bytes().replace(b"25", b"26", 1)})


class Server(http.server.BaseHTTPRequestHandler):
    """Serves what a test has put under a path; some paths misbehave."""

    files: dict = {}
    requests: list = []
    silence = threading.Event()
    both = threading.Barrier(2, timeout=60)

    def do_GET(self):
        self.requests.append(self.path)
        content = self.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if "both" in self.path:
            self.both.wait()
        if "cut" in self.path:
            self.wfile.write(content[: len(content) // 2])
        elif "slow" in self.path:
            self.wfile.write(content[:100])
            self.wfile.flush()
            self.silence.wait(30)
        else:
            self.wfile.write(content)

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def server():
    # A worker may come back to this module after it has left it.
    Server.silence.clear()
    Server.files = {
        "/good.zip": GOOD,
        "/changed.zip": CHANGED,
        "/cut.zip": GOOD,
        "/both.zip": GOOD,
        "/slow.zip": GOOD,
        "/page.zip": b"<html>We have moved.</html>",
        "/other.zip": zipped(other=b"data"),
        "/damaged.zip": GOOD[:200] + b"\0" * 50 + GOOD[250:],
        "/folder.zip": zipped(**{f"top/{MATERNAL.member}": COMMITTED.read_bytes()}),
    }
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    running.daemon_threads = True
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}"
    Server.silence.set()
    running.shutdown()
    running.server_close()


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty cache, no mirror, no clone."""
    monkeypatch.setattr(places, "CLONE", tmp_path / "no clone")
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    monkeypatch.delenv(MIRROR, raising=False)
    return tmp_path / "cache"


@pytest.fixture
def serve(monkeypatch, server):
    """Let a data set's address be a path on the local server."""

    def at(path, card=MATERNAL, **changes):
        changed = dataclasses.replace(card, address=f"{server}{path}", **changes)
        monkeypatch.setitem(CARDS, card.name, changed)
        Server.requests.clear()

    return at


def files_in(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def refusal(name="maternal_risk"):
    """The sentence of a refused load, after checking that it is one sentence."""
    with pytest.raises(DatasetNotAvailable) as refused:
        load_dataset(name)
    sentence = str(refused.value)
    assert sentence.startswith(f"The data set {name} is not available: ")
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert refused.value.__context__ is None or refused.value.__suppress_context__
    return sentence


# --- what works --------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/good.zip", "/folder.zip"])
def test_a_good_download_is_verified_kept_and_not_repeated(cache, serve, path):
    serve(path)
    assert list_datasets().loc["maternal_risk", "place"] == "not here"
    dataset = load_dataset("maternal_risk")
    assert dataset.features.shape == (1014, 6)
    assert files_in(cache) == [MATERNAL.file]
    assert (cache / MATERNAL.file).read_bytes() == COMMITTED.read_bytes()
    load_dataset("maternal_risk")
    assert fetch_dataset("maternal_risk") == "cache"
    assert Server.requests == [path]
    assert [p for p in cache.iterdir() if p.name.startswith(".")] == []


def test_no_download_when_none_is_wanted(cache, serve):
    serve("/good.zip")
    with pytest.raises(DatasetNotAvailable, match="it is not on this machine"):
        load_dataset("maternal_risk", download=False)
    assert Server.requests == []


def test_listing_and_verifying_never_download(cache, serve):
    serve("/good.zip")
    verified = verify_datasets()
    assert verified.loc["maternal_risk"].tolist() == ["not here", None, ""]
    assert verified.loc["breast_cancer"].tolist() == ["scikit-learn", True, ""]
    assert Server.requests == []


def test_two_processes_at_once_leave_one_good_file(cache, server, tmp_path):
    # The server answers neither before both have asked.
    code = (
        "import dataclasses, sys\n"
        "from pathlib import Path\n"
        "from mebnb.datasets import fetch_dataset, places\n"
        "from mebnb.datasets.cards import CARDS\n"
        "places.CLONE = Path(sys.argv[2])\n"
        "CARDS['maternal_risk'] = dataclasses.replace(\n"
        "    CARDS['maternal_risk'], address=sys.argv[1])\n"
        "print(fetch_dataset('maternal_risk'))\n"
    )
    command = [sys.executable, "-c", code, f"{server}/both.zip", str(tmp_path)]
    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    told = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert told == [(b"cache\n", b"")] * 2
    assert files_in(cache) == [MATERNAL.file]


def test_a_fetch_mends_a_damaged_file_in_the_cache(cache, serve):
    serve("/good.zip")
    (cache / MATERNAL.file).parent.mkdir(parents=True)
    (cache / MATERNAL.file).write_bytes(COMMITTED.read_bytes()[:1000])
    assert "is not the published one (sha256" in refusal()
    assert verify_datasets().loc["maternal_risk", "verified"] is False
    assert Server.requests == []
    assert fetch_dataset("maternal_risk") == "cache"
    assert len(load_dataset("maternal_risk").labels) == 1014


def test_a_fetch_does_not_touch_a_damaged_file_of_others(cache, serve, monkeypatch):
    serve("/good.zip")
    mirror = cache.parent / "mirror"
    monkeypatch.setenv(MIRROR, str(mirror))
    (mirror / MATERNAL.file).parent.mkdir(parents=True)
    (mirror / MATERNAL.file).write_bytes(b"Age,RiskLevel\n")
    with pytest.raises(DatasetNotAvailable, match="is not the published one"):
        fetch_dataset("maternal_risk")
    assert Server.requests == []


def test_an_archive_in_the_mirror_folder_is_unpacked_into_the_cache(
    cache, serve, monkeypatch
):
    serve("/good.zip")
    mirror = cache.parent / "mirror"
    monkeypatch.setenv(MIRROR, str(mirror))
    (mirror / "maternal_risk").mkdir(parents=True)
    (mirror / "maternal_risk" / "good.zip").write_bytes(GOOD)
    assert len(load_dataset("maternal_risk").labels) == 1014
    assert files_in(cache) == [MATERNAL.file]
    assert Server.requests == []


def test_what_a_killed_process_left_is_removed_after_a_day(cache, serve):
    serve("/good.zip")
    old, new = cache / ".partial-old", cache / ".partial-new"
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "archive").write_bytes(b"half")
    os.utime(old, (0, 0))
    load_dataset("maternal_risk")
    assert not old.exists()
    assert new.exists()


# --- what goes wrong ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/changed.zip", "the download is not the published one (sha256 "),
        ("/missing.zip", "answers with status 404"),
        ("/cut.zip", "broke off"),
        ("/page.zip", "the download is not a sound zip file (File is not a zip file)"),
        ("/other.zip", f"the download has no member {MATERNAL.member}"),
        ("/damaged.zip", "the download is not a sound zip file ("),
    ],
)
def test_a_bad_download_is_refused_and_nothing_stays(cache, serve, path, sentence):
    serve(path)
    assert sentence in refusal()
    assert list(cache.rglob("*")) == []


def test_a_silent_server_is_given_up(cache, serve, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.3)
    serve("/slow.zip")
    assert "has been silent for 0.3 seconds" in refusal()
    assert list(cache.rglob("*")) == []


def test_no_server_at_all(cache, monkeypatch):
    card = dataclasses.replace(MATERNAL, address="http://127.0.0.1:9/none.zip")
    monkeypatch.setitem(CARDS, "maternal_risk", card)
    assert "there is no connection to 127.0.0.1:9" in refusal()
    assert list(cache.rglob("*")) == []


def test_a_name_that_cannot_be_resolved(cache, monkeypatch):
    card = dataclasses.replace(MATERNAL, address="http://nowhere.invalid/none.zip")
    monkeypatch.setitem(CARDS, "maternal_risk", card)

    def no_resolver(*args, **kwargs):
        raise OSError(errno.ENOENT, "Name or service not known")

    monkeypatch.setattr("urllib3.util.connection.create_connection", no_resolver)
    assert "there is no connection to nowhere.invalid" in refusal()


@pytest.mark.parametrize("when", ["while downloading", "while keeping"])
def test_a_full_disk(cache, serve, monkeypatch, when):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    serve("/good.zip")
    if when == "while downloading":
        monkeypatch.setattr("pooch.HTTPDownloader.__call__", full)
    else:
        monkeypatch.setattr(os, "fsync", full)
    assert f"the cache {cache} cannot be written (no space is left)" in refusal()
    assert list(cache.rglob("*")) == []


def test_a_cache_that_cannot_be_made(cache, serve):
    serve("/good.zip")
    cache.write_text("a file where a folder should be")
    assert f"the cache {cache} cannot be written (" in refusal()
    assert cache.read_text() == "a file where a folder should be"


def test_an_interrupted_download_leaves_nothing(cache, serve, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    serve("/good.zip")
    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load_dataset("maternal_risk")
    assert list(cache.rglob("*")) == []


# --- the RNA-Seq archive -----------------------------------------------------------

GENES = CARDS["gene_expression"]
TUMOURS = ["BRCA", "KIRC", "LUAD", "PRAD", "COAD"]


def rna_archive(folder, samples, genes):
    """An archive of UCI 401's layout, with its values and labels."""
    random = np.random.default_rng(7)
    labels = random.choice(TUMOURS, samples)
    values = np.round(random.gamma(4.0, 2.0, (samples, genes)), 9)
    values[random.random((samples, genes)) < 0.14] = 0.0
    path = folder / "data.csv"
    with path.open("w", encoding="ascii") as file:
        file.write("," + ",".join(f"gene_{j}" for j in range(genes)) + "\n")
        for i, row in enumerate(values):
            file.write(f"sample_{i}," + ",".join(map(str, row.tolist())) + "\n")
    rows = [f"sample_{i},{label}" for i, label in enumerate(labels)]
    (folder / "labels.csv").write_text("\n".join([",Class", *rows, ""]))
    packed = folder / GENES.member
    with tarfile.open(packed, "w:gz", compresslevel=1) as archive:
        for name in ("data.csv", "labels.csv"):
            archive.add(folder / name, f"TCGA-PANCAN-HiSeq-801x20531/{name}")
    return packed, values, pd.Series(labels, name="tumour")


def rna_card(packed, values, labels):
    return {
        "rows": len(values),
        "columns": values.shape[1],
        "counts": labels.value_counts().to_dict(),
        "file_sha256": hashlib.sha256(packed.read_bytes()).hexdigest(),
    }


@pytest.fixture
def small_rna(tmp_path):
    (tmp_path / "rna").mkdir()
    return rna_archive(tmp_path / "rna", 30, 41)


def test_the_rna_archive_is_kept_in_a_compact_form(cache, serve, small_rna):
    packed, values, labels = small_rna
    Server.files["/rna.zip"] = zipped(**{GENES.member: packed.read_bytes()})
    serve("/rna.zip", GENES, **rna_card(*small_rna))
    for _ in range(2):
        dataset = load_dataset("gene_expression")
        np.testing.assert_array_equal(dataset.features.to_numpy(), values)
        assert list(dataset.features.columns[:2]) == ["gene_0", "gene_1"]
        pd.testing.assert_series_equal(dataset.labels, labels, check_dtype=False)
        assert dataset.is_nominal.sum() == (labels == "BRCA").sum()
    assert files_in(cache) == ["gene_expression/gene_expression.npz"]
    assert Server.requests == ["/rna.zip"]


def test_a_compact_file_of_others_is_not_used(cache, serve, small_rna, monkeypatch):
    packed, values, labels = small_rna
    serve("/none.zip", GENES, **rna_card(*small_rna))
    mirror = cache.parent / "mirror"
    (mirror / "gene_expression").mkdir(parents=True)
    monkeypatch.setenv(MIRROR, str(mirror))
    compact = convert("gene_expression", packed.read_bytes())
    (mirror / GENES.file).write_bytes(compact)
    assert "status 404" in refusal("gene_expression")
    (mirror / "gene_expression" / GENES.member).write_bytes(packed.read_bytes())
    assert load_dataset("gene_expression").features.shape == (30, 41)
    assert files_in(cache) == ["gene_expression/gene_expression.npz"]


def test_a_damaged_compact_file_is_refused(cache, serve, small_rna):
    packed, values, labels = small_rna
    serve("/none.zip", GENES, **rna_card(*small_rna))
    target = cache / GENES.file
    target.parent.mkdir(parents=True)
    compact = bytearray(convert("gene_expression", packed.read_bytes()))
    compact[500] ^= 1
    target.write_bytes(bytes(compact))
    assert "Bad CRC-32" in refusal("gene_expression")


def test_an_rna_archive_with_other_samples_is_refused(tmp_path, small_rna):
    folder = tmp_path / "rna"
    text = (folder / "labels.csv").read_text().replace("sample_3,", "sample_99,")
    (folder / "labels.csv").write_text(text)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.add(folder / "data.csv", "x/data.csv")
        archive.add(folder / "labels.csv", "x/labels.csv")
    with pytest.raises(ValueError, match="has sample_3 where labels.csv has sample_99"):
        convert("gene_expression", buffer.getvalue())
    with pytest.raises(ValueError, match="not the official file of gene_expression"):
        convert("gene_expression", b"no archive")


@pytest.mark.large
def test_the_rna_archive_at_full_size_fits_into_four_gibibytes(tmp_path):
    """The real shape, in a process of its own whose peak memory is read."""
    (tmp_path / "rna").mkdir()
    packed, values, labels = rna_archive(tmp_path / "rna", 801, 20531)
    assert (tmp_path / "rna" / "data.csv").stat().st_size > 170e6
    archive = tmp_path / "rna.zip"
    archive.write_bytes(zipped(**{GENES.member: packed.read_bytes()}))
    code = (
        "import dataclasses, resource, sys\n"
        "from pathlib import Path\n"
        "from mebnb.datasets import load_dataset\n"
        "from mebnb.datasets.cards import CARDS\n"
        "from mebnb.datasets.download import install\n"
        "card = dataclasses.replace(CARDS['gene_expression'], **eval(sys.argv[2]))\n"
        "CARDS['gene_expression'] = card\n"
        "install(card, Path(sys.argv[1]))\n"
        "dataset = load_dataset('gene_expression', download=False)\n"
        "print(dataset.features.to_numpy().sum())\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    facts = repr(rna_card(packed, values, labels))
    told = subprocess.run(
        [sys.executable, "-c", code, str(archive), facts],
        env={**os.environ, CACHE: str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert float(told[0]) == pytest.approx(values.sum(), rel=1e-12)
    assert int(told[1]) < 4 * 1024**2
    assert (tmp_path / "cache" / GENES.file).stat().st_size < 140e6


# --- R's files ---------------------------------------------------------------------


class Writer:
    """Just enough of R's serialisation to write an expression set, by hand."""

    def __init__(self):
        self.symbols = {}

    def word(self, *numbers):
        return struct.pack(f">{len(numbers)}i", *numbers)

    def char(self, text):
        return self.word(9 | 64 << 12, len(text)) + text.encode()

    def symbol(self, name):
        if name in self.symbols:
            return self.word(255 | self.symbols[name] << 8)
        self.symbols[name] = len(self.symbols) + 1
        return self.word(1) + self.char(name)

    def pairs(self, members):
        body = [
            self.word(2 | 0x400) + self.symbol(k) + (v() if callable(v) else v)
            for k, v in members.items()
        ]
        return b"".join(body) + self.word(254)

    def vector(self, kind, count, body, attributes=None):
        flags = kind | (0x200 if attributes else 0)
        tail = self.pairs(attributes) if attributes else b""
        return self.word(flags, count) + body + tail

    def texts(self, texts):
        return self.vector(16, len(texts), b"".join(map(self.char, texts)))

    def integers(self, numbers, attributes=None):
        return self.vector(13, len(numbers), self.word(*numbers), attributes)

    def factor(self, codes, levels):
        return self.integers(codes, {"levels": lambda: self.texts(levels)})

    def s4(self, slots):
        return self.word(25 | 0x200) + self.pairs(slots)


def rda_of_an_expression_set(matrix, probes, samples):
    w = Writer()
    genes, patients = matrix.shape

    def dimnames():
        return w.vector(19, 2, w.texts(probes) + w.texts(samples))

    def exprs():
        numbers = matrix.astype(">f8").tobytes(order="F")
        shape = {"dim": lambda: w.integers([genes, patients]), "dimnames": dimnames}
        return w.vector(14, matrix.size, numbers, shape)

    def environment():
        w.symbols["<environment>"] = len(w.symbols) + 1
        null = w.word(254)
        frame = w.pairs({"exprs": exprs})
        return w.word(4, 0) + w.word(253) + frame + null + null

    def table():
        columns = w.factor([1, 2, 1], ["B1", "T"]) + w.factor([2, 1, 2], ["NEG", "x"])
        names = {"names": lambda: w.texts(["BT", "mol.biol"])}
        return w.vector(19, 2, columns, names)

    def pheno():
        return w.s4({"data": table})

    slots = {"assayData": environment, "phenoData": pheno}
    body = w.pairs({"ALL": lambda: w.s4(slots)})
    return b"RDX2\nX\n" + w.word(2, 0, 0) + body


def test_an_expression_set_of_r_is_read_and_kept_compact():
    matrix = np.arange(12.0).reshape(4, 3) / 7
    rda = rda_of_an_expression_set(matrix, ["p1", "p2", "p3", "p4"], ["a", "b", "c"])
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        packed = gzip.compress(rda)
        entry = tarfile.TarInfo("ALL/data/ALL.rda")
        entry.size = len(packed)
        archive.addfile(entry, io.BytesIO(packed))
    compact = convert("all_leukemia", buffer.getvalue())
    with np.load(io.BytesIO(compact)) as arrays:
        np.testing.assert_array_equal(arrays["X"], matrix.T.astype(np.float32))
        assert arrays["BT"].tolist() == ["B1", "T", "B1"]
        assert arrays["mol_biol"].tolist() == ["x", "NEG", "x"]
        assert arrays["probes"].tolist() == ["p1", "p2", "p3", "p4"]
        assert arrays["samples"].tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no R data", "not R data in XDR form"),
        (b"RDX2\nX\n\0\0", "cut off or damaged"),
        (b"RDX2\nX\n" + struct.pack(">4i", 2, 0, 0, 24), "R type 24 is not read"),
        (b"\x1f\x8bgarbage", "cut off or damaged"),
    ],
)
def test_other_bytes_are_no_r_data(content, message):
    with pytest.raises(ValueError, match=message):
        read_rdata(content)
