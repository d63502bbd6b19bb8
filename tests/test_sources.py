"""Rows from files, tables, Dask and functions: the ball of the same rows in memory."""

import threading
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mebnb import Blocks, minimum_enclosing_ball
from mebnb.solvers import sources as module
from mebnb.solvers.passes import Shell
from mebnb.solvers.sources import Stream
from tests.test_workers import KINDS, as_large, draw, same  # noqa: F401 (a fixture)

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
try:
    import torch
except ImportError:
    torch = None


def table_of(points):
    return pa.table({f"x{j}": column for j, column in enumerate(points.T)})


def cut_up(points, size):
    starts = range(0, len(points), size)
    return Blocks(lambda k: points[starts[k] : starts[k] + size], len(starts))


def sources(points, folder):
    """The same rows, wherever they may come from."""
    m = len(points)
    np.save(folder / "points.npy", points)
    table, half = table_of(points), m // 2
    (folder / "many").mkdir(exist_ok=True)
    pq.write_table(table, folder / "one.parquet", row_group_size=max(m // 7, 1))
    pq.write_table(table[:half], folder / "many/a.parquet", row_group_size=97)
    pq.write_table(table[half:], folder / "many/b.parquet")
    columns = table.column_names
    frame = dd.from_pandas(pd.DataFrame(points, columns=columns), npartitions=3)
    array = da.from_array(points, chunks=(max(m // 5, 1), -1))
    elsewhere = {"torch": torch.from_numpy(points)} if torch else {}
    return elsewhere | {
        "memory": points,
        ".npy": folder / "points.npy",
        "memory-mapped": np.load(folder / "points.npy", mmap_mode="r"),
        "Parquet file": folder / "one.parquet",
        "Parquet folder": folder / "many",
        "Parquet pattern": str(folder / "many" / "*.parquet"),
        "Parquet columns": Blocks.from_parquet(folder / "one.parquet", columns),
        "Arrow table": table,
        "Dask array": array,
        "Dask array of unknown chunks": array[array[:, 0] == array[:, 0]],
        "Dask frame": frame,
        "blocks of all rows": cut_up(points, m),
        "blocks of 64 rows": cut_up(points, 64),
    }


@pytest.fixture(autouse=True)
def dask_in_threads():
    import dask

    with dask.config.set(scheduler="threads"):
        yield


@pytest.mark.parametrize(
    "kind, seed",
    [("normal", 0), ("sphere", 1), ("repeats", 2), ("tiny", 3)]
    + [
        pytest.param(kind, seed, marks=pytest.mark.large)
        for kind in KINDS
        for seed in range(10, 35)
    ],
)
def test_every_source_gives_the_ball_of_the_array(as_large, kind, seed, tmp_path):  # noqa: F811
    points = draw(kind, seed)
    expected = minimum_enclosing_ball(points, workers=1)
    many = seed >= 10
    held = sources(points, tmp_path)
    if many:
        held["blocks of one row"] = cut_up(points, 1)
    for name, source in held.items():
        for workers in (1, 2, 3) if many else (2,):
            try:
                same(minimum_enclosing_ball(source, workers=workers), expected)
            except AssertionError as error:
                raise AssertionError(f"{name}, {workers} workers") from error


def test_small_data_and_blocks_of_one_row(tmp_path):
    points = draw("normal", 3)[:90].astype(np.float32)
    expected = minimum_enclosing_ball(points)
    for source in (cut_up(points, 1), *sources(points, tmp_path).values()):
        same(minimum_enclosing_ball(source), expected)


def test_blocks_of_one_row_of_large_data(as_large):  # noqa: F811
    points = draw("whole numbers", 4)[:300]
    same(minimum_enclosing_ball(cut_up(points, 1)), minimum_enclosing_ball(points))


def test_each_block_is_read_once_a_pass(as_large):  # noqa: F811
    points, reads = np.random.default_rng(0).normal(size=(5000, 3)), []

    def read(k):
        reads.append(k)
        return points[100 * k : 100 * k + 100]

    stream = Stream(Blocks(read, 50, [100] * 50), 2)
    reads.clear()
    first, *others = stream.fold(lambda: Shell(np.zeros(3), 1.0, 5, 0.0))
    assert sorted(reads) == list(range(50)) and first.merged(others).rows.size == 5
    reads.clear()
    values, part = stream.gather(np.array([205, 3, 299]))
    np.testing.assert_array_equal(values, points[[205, 3, 299]])
    assert sorted(reads) == [0, 2] and part == 200 / 5000
    reads.clear()
    ball = minimum_enclosing_ball(Blocks(read, 50, [100] * 50))
    assert len(reads) == round(50 * ball.passes) + 1  # one tells the columns


def read_all(stream):
    """The numbers of the blocks' first rows, as they come."""
    return [start for start, _ in stream.blocks()]


def test_row_groups_are_read_by_several_threads(tmp_path):
    pq.write_table(
        table_of(np.ones((60, 2))), tmp_path / "a.parquet", row_group_size=10
    )
    stream = Stream(Blocks.from_parquet(tmp_path / "a.parquet"), 2)
    read, both = stream.held._read, threading.Barrier(2, timeout=20.0)

    def meet(k):
        both.wait()  # nobody comes alone
        return read(k)

    stream.held._read = meet
    in_every_way(stream)


def test_a_function_is_called_by_one_thread_at_a_time():
    points, inside = np.ones((60, 2)), threading.Semaphore(1)

    def read(k):
        assert inside.acquire(blocking=False), "two threads read at once"
        time.sleep(0.01)  # long enough for another one to come
        inside.release()
        return points[10 * k : 10 * k + 10]

    in_every_way(Stream(Blocks(read, 6, [10] * 6), 3))


def in_every_way(stream):
    """Read 60 rows in blocks of ten, as passes, gathering and others do."""
    assert read_all(stream) == list(range(0, 60, 10))
    first, *others = stream.fold(lambda: Shell(np.zeros(2), 1.0, 60, 0.0))
    np.testing.assert_array_equal(first.merged(others).rows, np.arange(60))
    values, _ = stream.gather(np.arange(0, 60, 10))
    np.testing.assert_array_equal(values, np.ones((6, 2)))


def test_a_row_group_comes_in_one_piece_and_its_faults_are_told(tmp_path, monkeypatch):
    held = np.arange(300_000.0).reshape(-1, 1)  # Arrow would cut it in three
    table = pa.table({"a": held[:, 0]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=len(held))
    pieces, taken = [], module._columns_of_table

    def counted(table, what):
        pieces.append(table.column("a").num_chunks)
        return taken(table, what)

    monkeypatch.setattr(module, "_columns_of_table", counted)
    stream = Stream(Blocks.from_parquet(tmp_path / "a.parquet"), 2)
    np.testing.assert_array_equal(stream.whole(), held)
    assert set(pieces) == {1}
    values = [None if row == 25 else float(row) for row in range(40)]
    pq.write_table(pa.table({"a": values}), tmp_path / "b.parquet", row_group_size=10)
    stream = Stream(Blocks.from_parquet(tmp_path / "b.parquet"), 2)
    with pytest.raises(ValueError, match="rows 21 and on of .*b.parquet must hold"):
        read_all(stream)


def test_a_pass_sees_rows_tile_by_tile(tmp_path, monkeypatch):
    points = np.arange(300.0).reshape(100, 3)
    pq.write_table(table_of(points), tmp_path / "a.parquet", row_group_size=40)

    class Taker:
        def __init__(self):
            self.starts, self.tiles = [], []

        def take(self, start, tile):
            assert tile.flags.c_contiguous and type(tile) is np.ndarray
            self.starts.append(start)
            self.tiles.append(tile)

    some = [0, 11, 22, 33, 40, 51, 62, 73, 80, 91]
    for held in (Blocks.from_parquet(tmp_path / "a.parquet"), cut_up(points, 40)):
        for tile, starts in ((35, some), (1, list(range(100)))):
            monkeypatch.setattr(module, "TILE", tile)
            (taker,) = Stream(held).fold(Taker)
            assert taker.starts == starts
            np.testing.assert_array_equal(np.concatenate(taker.tiles), points)


def test_rows_are_gathered_without_the_others_of_their_block(monkeypatch):
    points, sizes = np.arange(50.0).reshape(25, 2), []
    made = module.Columns.__getitem__

    def counted(self, rows):
        sizes.append(len(made(self, rows)))
        return made(self, rows)

    stream = Stream(Blocks.from_arrow(table_of(points)))
    monkeypatch.setattr(module.Columns, "__getitem__", counted)
    values, read = stream.gather([7, 3, 24, 0])
    np.testing.assert_array_equal(values, points[[7, 3, 24, 0]])
    assert max(sizes) == 4 and read == 1.0


def test_the_support_is_told_by_file_and_row(tmp_path):
    points = draw("normal", 6)
    folder = sources(points, tmp_path)["Parquet folder"]
    ball = minimum_enclosing_ball(folder)
    assert len(ball.places) == len(ball.support)
    for row, (file, place) in zip(ball.support, ball.places):
        line = pq.read_table(file).slice(place, 1).to_pandas().to_numpy()[0]
        np.testing.assert_array_equal(line, points[row])
    assert minimum_enclosing_ball(points).places is None


def test_columns_are_chosen_and_types_mixed(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"name": list("abcd") * 50, "b": rng.integers(0, 9, 200)})
    frame["a"] = rng.normal(size=200).astype(np.float32)
    frame.to_parquet(tmp_path / "mixed.parquet")
    blocks = Blocks.from_parquet(tmp_path / "mixed.parquet", ["a", "b"])
    expected = minimum_enclosing_ball(frame[["a", "b"]].to_numpy(np.float64))
    same(minimum_enclosing_ball(blocks), expected)
    with pytest.raises(TypeError, match="column 'name' must hold real numbers, found"):
        Blocks.from_parquet(tmp_path / "mixed.parquet")
    with pytest.raises(ValueError, match="no column is called 'c'"):
        Blocks.from_parquet(tmp_path / "mixed.parquet", ["c"])
    with pytest.raises(TypeError, match="column 'name' must hold real numbers"):
        minimum_enclosing_ball(dd.from_pandas(frame, npartitions=2))


def test_columns_are_read_as_named_and_in_order(tmp_path):
    points = np.arange(9.0).reshape(3, 3)
    table = pa.table(dict(zip(["a", "a.b", "c"], points.T, strict=True)))
    pq.write_table(table, tmp_path / "dots.parquet")
    for names, places in ((["a"], [0]), (["c", "a"], [2, 0]), (["a.b"], [1])):
        blocks = Blocks.from_parquet(tmp_path / "dots.parquet", names)
        np.testing.assert_array_equal(blocks.block(0), points[:, places])


def test_files_that_are_not_there_or_empty(tmp_path):
    for name in ("no.npy", "no.parquet", "no*.parquet"):
        with pytest.raises(ValueError, match="no file is called"):
            minimum_enclosing_ball(tmp_path / name)
    pq.write_table(table_of(np.empty((0, 2))), tmp_path / "empty.parquet")
    with pytest.raises(ValueError, match="no rows"):
        minimum_enclosing_ball(tmp_path / "empty.parquet")
    with pytest.raises(ValueError, match="no rows"):
        minimum_enclosing_ball(table_of(np.empty((0, 2))))


def test_a_name_that_is_there_is_no_pattern(tmp_path):
    for name, size in (("a[1]", 3), ("a1", 5)):
        (tmp_path / name).mkdir()
        table = table_of(np.ones((size, 2)))
        pq.write_table(table, tmp_path / name / "rows.parquet")
        pq.write_table(table, tmp_path / f"{name}.parquet")
    for name in ("a[1]", "a[1].parquet"):
        assert Blocks.from_parquet(tmp_path / name).shape == (3, 2)
    (tmp_path / "a[1].parquet").unlink()
    assert Blocks.from_parquet(tmp_path / "a[1].parquet").shape == (5, 2)


def test_blocks_that_are_wrong_are_named(as_large):  # noqa: F811
    points = np.random.default_rng(0).normal(size=(400, 3))
    parts = list(points.reshape(4, 100, 3))
    with pytest.raises(ValueError, match=r"block 2 must have 3 columns .* found 2"):
        minimum_enclosing_ball(
            Blocks(lambda k: parts[k][:, : 3 - (k == 2)], 4), workers=2
        )
    with pytest.raises(ValueError, match="block 1 must have rows of equal length"):
        minimum_enclosing_ball(Blocks([[[1.0]], [[1.0], [1.0, 2.0]]].__getitem__, 2))
    bad = [part.copy() for part in parts]
    bad[3][7, 1] = np.nan
    with pytest.raises(ValueError, match="block 3 must be finite, found NaN in row 7"):
        minimum_enclosing_ball(Blocks(bad.__getitem__, 4))
    with pytest.raises(ValueError, match="block 0 must have the 99 rows"):
        minimum_enclosing_ball(Blocks(parts.__getitem__, 4, [99, 100, 100, 100]))
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="block 0 must be the same in every pass"):
        minimum_enclosing_ball(Blocks(lambda k: rng.normal(size=(100, 3)), 4))
    table = pa.table({"a": [1.0, None], "b": [0.0, 1.0]})
    with pytest.raises(ValueError, match="block 0 must hold numbers, .* column 'a'"):
        minimum_enclosing_ball(table)


def test_blocks_are_read_one_after_the_other():
    reading = threading.Lock()

    def read(k):
        assert reading.acquire(blocking=False), "two threads read at one time"
        time.sleep(5e-3)
        reading.release()
        return [[float(k)]]

    stream = Stream(Blocks(read, 8, [1] * 8), 2)
    np.testing.assert_array_equal(stream.whole()[:, 0], np.arange(8.0))


def test_the_first_block_with_rows_tells_the_columns():
    read, parts = [], [np.empty((0, 2)), np.ones((1, 2)), np.ones((2, 2))]
    blocks = Blocks(lambda k: [read.append(k), parts[k]][1], 3, [0, 1, 2])
    assert blocks.shape == (3, 2) and read == [1]
    assert Blocks(parts[:1].__getitem__, 1).block(0).shape == (0, 2)
    assert Blocks(parts[1:].__getitem__, 1).shape == (1, 2)


def test_a_block_in_another_order_or_with_nan_is_handed_on():
    points = np.arange(6.0).reshape(3, 2)
    points[1, 1] = np.nan
    for block in (points, np.asfortranarray(points), points.tolist()):
        got = Blocks(lambda k, block=block: block, 1).block(0)
        np.testing.assert_array_equal(got, points)
        assert got.flags.c_contiguous
    got = Blocks.from_arrow(table_of(points)).block(0)
    np.testing.assert_array_equal(got, points)


def test_columns_of_other_kinds_are_checked_by_name():
    with pytest.raises(ValueError, match="column 'a' of block 0"):
        Blocks.from_arrow(pa.table({"a": [1, 2**53 + 1]})).block(0)
    mixed = Blocks.from_arrow(pa.table({"a": [True, False], "b": [1.5, 2.0]}))
    assert mixed.block(0).tolist() == [[1.0, 1.5], [0.0, 2.0]]
    with pytest.raises(ValueError, match="columns must name at least one column"):
        Blocks.from_arrow(pa.table({"a": [1.0]}), [])
    with pytest.raises(ValueError, match="name each column once, found 'b' again"):
        Blocks.from_arrow(pa.table({"a": [1.0], "b": [2.0]}), ["a", "b", "b"])


@pytest.fixture
def groups(tmp_path):
    """Two Parquet files with row groups of different sizes."""
    for name, sizes in (("a", (2, 3, 4)), ("b", (5, 1))):
        with pq.ParquetWriter(tmp_path / f"{name}.parquet", SCHEMA) as writer:
            for at, size in enumerate(sizes):
                values = 100.0 * at + np.arange(float(size))
                writer.write_table(pa.table({"x": values}, SCHEMA))
    return tmp_path


SCHEMA = pa.schema([("x", pa.float64())])


def test_row_groups_are_blocks_and_rows_are_located(groups):
    for path in (groups, str(groups / "*.parquet")):
        blocks = Blocks.from_parquet(path)
        assert blocks.rows == [2, 3, 4, 5, 1] and blocks.names == ["x"]
        files = [str(groups / f"{name}.parquet") for name in "ab"]
        expected = [(files[0], row) for row in range(9)]
        expected += [(files[1], row) for row in range(6)]
        assert blocks.locate(range(15)) == expected
    assert Blocks.from_parquet(str(groups / "a*.parquet")).shape == (9, 1)


def test_what_a_parquet_file_lacks_is_told_by_its_rows(tmp_path):
    table = pa.table({"x": [0.0, 1.0, None]})
    pq.write_table(table, tmp_path / "lacks.parquet", row_group_size=2)
    with pytest.raises(ValueError, match=r"rows 3 and on of .*lacks.parquet must hold"):
        Blocks.from_parquet(tmp_path / "lacks.parquet").block(1)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="must hold Parquet files, found none"):
        Blocks.from_parquet(tmp_path / "empty")


def test_one_value_a_row_comes_block_by_block(tmp_path, monkeypatch):
    points, sizes = np.arange(40.0).reshape(20, 2), []

    def total(rows):
        sizes.append(len(rows))
        return np.asarray(rows).sum(axis=1)

    np.save(tmp_path / "points.npy", points)
    np.save(tmp_path / "line.npy", points.ravel())
    for room, expected in ((112, [7, 7, 6]), (1, [1] * 20), (9999, [20])):
        monkeypatch.setattr(module, "LARGE_BLOCK_BYTES", room)
        sizes.clear()
        values = module.by_blocks(total, tmp_path / "points.npy")
        np.testing.assert_array_equal(values, points.sum(axis=1))
        assert sizes == expected
        sizes.clear()
        module.by_blocks(total, points)
        assert sizes == [20]
    sizes.clear()
    parts = [points[:0], points[:3], points[:0], points[3:]]
    values = module.by_blocks(total, Blocks(parts.__getitem__, 4))
    np.testing.assert_array_equal(values, points.sum(axis=1))
    assert sizes == [3, 17]
    named = module.by_blocks(lambda frame: frame["x1"].to_numpy(), table_of(points))
    np.testing.assert_array_equal(named, points[:, 1])
    line = module.by_blocks(lambda rows: -rows, tmp_path / "line.npy")
    np.testing.assert_array_equal(line, -points.ravel())


def test_what_only_looks_like_a_table_is_handed_on():
    class Other:
        schema = None

    for source in (Other(), pa.array([1.0])):
        assert module.opened(source) is source


@pytest.mark.parametrize("changed", [0, 3, 6])
def test_a_block_that_changes_at_either_end_or_in_the_middle_is_noticed(changed):
    rows = np.arange(14.0).reshape(7, 2)
    blocks = Blocks(lambda k: rows.copy(), 1)
    np.testing.assert_array_equal(blocks.block(0), rows)
    np.testing.assert_array_equal(blocks.block(0), rows)
    rows[changed, 1] += 1.0
    with pytest.raises(ValueError, match="block 0 must be the same in every pass"):
        blocks.block(0)


def test_columns_are_an_array_where_they_are_looked_at():
    narrow, wide = np.arange(5.0, dtype=np.float32), np.linspace(0.1, 0.9, 5)
    columns = module.Columns([narrow, wide])
    points = np.column_stack([narrow, wide])
    assert len(columns) == 5 and columns.shape == points.shape
    for rows in (slice(None), slice(1, 3), slice(4, 9), [0, 2, -1], np.array([3, 1])):
        np.testing.assert_array_equal(columns[rows], points[rows])
        assert columns[rows].dtype == np.float64
    assert module.Columns([narrow])[:].dtype == np.float32


def test_a_table_is_cut_into_blocks_and_turned_tile_by_tile(monkeypatch):
    points = np.arange(75.0).reshape(25, 3)
    monkeypatch.setattr(module, "TABLE_ROWS", 10)
    for tile in (1, 8, 1000):
        monkeypatch.setattr(module, "TILE", tile)
        blocks = Blocks.from_arrow(table_of(points))
        assert blocks.count == 3 and blocks.shape == (25, 3)
        assert [blocks.start(k) for k in range(3)] == [0, 10, 20]
        parts = [blocks.block(k) for k in range(3)]
        np.testing.assert_array_equal(np.vstack(parts), points)
    swapped = Blocks.from_arrow(table_of(points), ["x2", "x0"])
    np.testing.assert_array_equal(swapped.block(2), points[20:, [2, 0]])
    assert Blocks.from_arrow(table_of(points[:10])).count == 1


def test_blocks_without_rows_are_passed_over():
    points = np.arange(12.0).reshape(6, 2)
    parts = [points[:0], points[:2], np.empty((0, 7)), points[2:], points[:0]]
    blocks = Blocks(parts.__getitem__, 5)
    assert blocks.shape == (6, 2)
    np.testing.assert_array_equal(blocks.holders([0, 1, 2, 5]), [1, 1, 3, 3])
    stream = Stream(blocks)
    np.testing.assert_array_equal(stream.whole(), points)
    assert [start for start, _ in stream.blocks()] == [0, 0, 2, 2, 6]
    assert stream.locate([0]) is None
    stream.refuse_non_finite()
    points[3, 1] = np.inf
    for ask in (stream.refuse_non_finite, stream.whole):
        with pytest.raises(ValueError, match="block 3 must be finite, found"):
            ask()


def test_many_chunks_are_merged_by_and_by(monkeypatch):
    points = np.random.default_rng(0).normal(size=(50, 2))
    monkeypatch.setattr(module, "MERGED", 3)
    stream = Stream(module.opened(da.from_array(points, chunks=(4, -1))))
    shells = stream.fold(lambda: Shell(np.zeros(2), 1.0, 5, 0.0))
    assert 1 < len(shells) <= 3
    whole = shells[0].merged(shells[1:])
    squared = (points**2).sum(axis=1)
    np.testing.assert_array_equal(whole.rows, np.sort(squared.argsort()[-5:]))
    assert whole.inner == pytest.approx(np.sort(squared)[-6], rel=1e-14)


def test_calls_of_blocks_that_make_no_sense():
    with pytest.raises(TypeError, match="read must be a function"):
        Blocks([[1.0]], 1)
    with pytest.raises(ValueError, match="count must be finite and at least 1"):
        Blocks(print, 0)
    with pytest.raises(TypeError, match="count must be"):
        Blocks(print, 1.5)
    with pytest.raises(ValueError, match="rows must hold 3 numbers, found 2"):
        Blocks(print, 3, [1, 2])


def test_several_chunks_of_columns_are_not_rechunked_in_silence():
    array = da.zeros((100, 4), chunks=(50, 2))
    with pytest.raises(ValueError, match=r"found 2; call points.rechunk\(\{1: -1\}\)"):
        minimum_enclosing_ball(array)
    ball = minimum_enclosing_ball(np.eye(4))
    with pytest.raises(ValueError, match="rechunk"):
        ball.distances(array)


def test_a_dask_array_has_two_dimensions():
    for shape in ((10,), (10, 2, 2)):
        told = f"^points must have two dimensions .* found {len(shape)}"
        with pytest.raises(ValueError, match=told):
            minimum_enclosing_ball(da.zeros(shape))


def test_distances_are_lazy_on_lazy_rows():
    points = draw("normal", 7)
    ball = minimum_enclosing_ball(points)
    array = da.from_array(points, chunks=(33, -1))
    lazy = ball.distances(array)
    assert isinstance(lazy, da.Array) and lazy.chunks == (array.chunks[0],)
    expected = np.linalg.norm(points - ball.center, axis=1)
    np.testing.assert_allclose(lazy.compute(), expected, rtol=1e-14)
    np.testing.assert_array_equal(lazy.compute(), ball.distances(points))


class Elsewhere:
    """An array of another library."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


def test_arrays_of_other_libraries_are_read_where_they_lie():
    points = np.random.default_rng(0).normal(size=(50, 3))
    same(minimum_enclosing_ball(Elsewhere(points)), minimum_enclosing_ball(points))
    with pytest.raises(
        TypeError, match="must be an array of a library .* found Elsewhere"
    ):
        minimum_enclosing_ball(Elsewhere(points, (2, 0)))


@pytest.mark.large
def test_a_killed_worker_costs_time_only():
    distributed = pytest.importorskip("distributed")
    array = da.random.default_rng(1).normal(size=(3_000_000, 6), chunks=(50_000, 6))
    expected = minimum_enclosing_ball(array)
    cluster = distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        pids = [info["pid"] for info in client.run(_identity).values()]
        killer = threading.Timer(1.0, _end, [pids[0]])
        killer.start()
        ball = minimum_enclosing_ball(array)
        killer.join()
    same(ball, expected)


def _identity():
    import os

    return {"pid": os.getpid()}


def _end(pid):
    import os
    import signal

    os.kill(pid, signal.SIGKILL)
