"""Compact files made of official ones that are slow to read."""

from __future__ import annotations

import io
import tarfile

import numpy as np

from mebnb.datasets.rdata import read_rdata

__all__ = ["convert"]


def convert(name, content):
    """Make the compact file of a data set from the official one.

    Parameters
    ----------
    name : str
        A data set whose card says `converted`.
    content : bytes
        The official file.

    Returns
    -------
    bytes
        An .npz file.

    Raises
    ------
    ValueError
        When the official file is not laid out as it should be.
    """
    try:
        return CONVERTERS[name](content)
    except (ValueError, LookupError, EOFError, OSError, tarfile.TarError) as error:
        raise ValueError(f"not the official file of {name} ({error})") from None


def _all_leukemia(content):
    """The Bioconductor source package: an R object with a matrix of genes x samples."""
    (rda,) = _members(content, "ALL.rda")
    expression_set = read_rdata(rda.read())["ALL"]
    table = expression_set["assayData"]["exprs"]
    genes, samples = table["dim"].value
    probes, names = (names.strings() for names in table["dimnames"].value)
    patients = expression_set["phenoData"]["data"]
    # R stores columns one after the other, so that a row here is a sample.
    return _npz(
        X=table.value.reshape(samples, genes).astype(np.float32),
        BT=np.array(patients["BT"].strings()),
        mol_biol=np.array(patients["mol.biol"].strings()),
        probes=np.array(probes),
        samples=np.array(names),
    )


def _gene_expression(content):
    """UCI's tar.gz: a table of samples x genes and a table of labels.

    The table is read line by line: 801 lines of a quarter of a megabyte.
    """
    data, labels = _members(content, "data.csv", "labels.csv")
    rows = [_fields(line) for line in labels.readlines()[1:]]
    samples, classes = zip(*rows, strict=True)
    genes = _fields(data.readline())[1:]
    values = np.empty((len(samples), len(genes)))
    for row, (line, expected) in enumerate(zip(data, samples, strict=True)):
        sample, numbers = line.decode().split(",", 1)
        if sample != expected:
            raise ValueError(f"data.csv has {sample} where labels.csv has {expected}")
        values[row] = np.fromstring(numbers, sep=",")
    return _npz(X=values, labels=np.array(classes), genes=np.array(genes))


CONVERTERS = {"all_leukemia": _all_leukemia, "gene_expression": _gene_expression}


def _members(content, *names):
    """Open files inside a tar.gz, whatever folder they are in."""
    archive = tarfile.open(fileobj=io.BytesIO(content), mode="r:gz")  # noqa: SIM115
    found = {entry.name.rsplit("/", 1)[-1]: entry for entry in archive}
    missing = [name for name in names if name not in found]
    if missing:
        raise ValueError(f"the archive has no {missing[0]}")
    return [archive.extractfile(found[name]) for name in names]


def _fields(line):
    return line.decode("utf-8").strip().split(",")


def _npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()
