"""Tables: their cells in Python, as CSV and by Arrow's C stream interface."""

from __future__ import annotations

import csv
import ctypes
import gc
import struct
import io
from typing import Any

import pytest

import trammel as tm


@pytest.fixture(scope="module")
def run() -> tm.Run:
    """A run with empty cells, texts, numbers and truths."""
    return tm.Scenario(
        duration="2 s",
        repeat=3,
        path=tm.Path(rate="10 Mbit/s", rtt="20 ms"),
        flows=[tm.Flow("reno"), tm.Flow("cubic", bytes="10 kB")],
    ).run()


class Schema(ctypes.Structure):
    """`struct ArrowSchema`."""


class Array(ctypes.Structure):
    """`struct ArrowArray`."""


class Stream(ctypes.Structure):
    """`struct ArrowArrayStream`."""


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))),
    ("private_data", ctypes.c_void_p),
]
Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))),
    ("private_data", ctypes.c_void_p),
]


def pointer(capsule: object) -> Any:
    """The stream in a capsule."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(capsule, b"arrow_array_stream"), ctypes.POINTER(Stream))


def bit(bits: int, at: int) -> bool:
    """Whether a bit of a bitmap is set."""
    return bool(ctypes.cast(bits, ctypes.POINTER(ctypes.c_uint8))[at // 8] >> at % 8 & 1)


def cells(array: Any, form: bytes) -> list[object]:
    """The cells of a column."""
    numbers: dict[bytes, Any] = {b"l": ctypes.c_int64, b"L": ctypes.c_uint64, b"g": ctypes.c_double}
    found: list[object] = []
    for at in range(array.length):
        if array.buffers[0] and not bit(array.buffers[0], at):
            found.append(None)
        elif form in numbers:
            found.append(ctypes.cast(array.buffers[1], ctypes.POINTER(numbers[form]))[at])
        elif form == b"b":
            found.append(bit(array.buffers[1], at))
        else:
            assert form == b"vu"
            view = ctypes.string_at(array.buffers[1] + 16 * at, 16)
            length, _, buffer, place = struct.unpack("<4I", view)
            text = view[4 : 4 + length]
            if length > 12:
                sizes = ctypes.cast(array.buffers[array.n_buffers - 1], ctypes.POINTER(ctypes.c_int64))
                assert place + length <= sizes[buffer]
                text = ctypes.string_at(array.buffers[2 + buffer] + place, length)
                assert text[:4] == view[4:8]
            found.append(text.decode())
    assert array.null_count == found.count(None)
    return found


def read(table: tm.Table) -> dict[str, list[object]]:
    """A table by its stream alone, as a reader of Arrow's would."""
    capsule = table.__arrow_c_stream__()
    stream = pointer(capsule)
    schema, array = Schema(), Array()
    assert stream.contents.get_schema(stream, schema) == 0
    assert schema.format == b"+s" and schema.n_children == len(table.columns)
    assert stream.contents.get_next(stream, array) == 0
    assert array.length == len(table) and array.n_children == schema.n_children
    found = {}
    for at in range(schema.n_children):
        column = schema.children[at].contents
        found[column.name.decode()] = cells(array.children[at].contents, column.format)
    end = Array()
    assert stream.contents.get_next(stream, end) == 0
    assert not end.release, "one batch is all"
    # A column that was taken away outlives its batch.
    taken = Array.from_buffer_copy(array.children[0].contents)
    ctypes.memset(ctypes.byref(array.children[0].contents, Array.release.offset), 0, 8)
    name = schema.children[0].contents.name.decode()
    form = schema.children[0].contents.format
    schema.release(schema)
    array.release(array)
    assert not schema.release and not array.release
    del capsule
    gc.collect()
    assert cells(taken, form) == found[name]
    taken.release(taken)
    return found


def test_the_stream_has_the_cells(run: tm.Run) -> None:
    assert run.tables
    for table in run.tables.values():
        assert read(table) == {name: table[name] for name in table.columns}, table.name


def test_streams_share_one_memory(run: tm.Run) -> None:
    def addresses() -> list[int]:
        capsule = run.flows.__arrow_c_stream__()
        array = Array()
        stream = pointer(capsule)
        assert stream.contents.get_next(stream, array) == 0
        columns = [array.children[at].contents for at in range(array.n_children)]
        found = [column.buffers[at] or 0 for column in columns for at in range(column.n_buffers)]
        array.release(array)
        return found

    assert addresses() == addresses()


def test_a_stream_that_nobody_reads_is_released(run: tm.Run) -> None:
    for _ in range(1000):
        run.flows.__arrow_c_stream__()


def test_cells_are_those_of_the_csv(run: tm.Run) -> None:
    for table in run.tables.values():
        rows = list(csv.DictReader(io.StringIO(table.to_csv())))
        assert len(rows) == len(table)
        for row, ours in zip(rows, table.rows()):
            for name, cell in ours.items():
                text = row[name]
                if cell is None:
                    assert text == ""
                elif isinstance(cell, bool):
                    assert text == str(cell).lower()
                elif isinstance(cell, (int, float)):
                    assert float(text) == cell
                else:
                    assert text == cell


def test_a_column_that_is_not_there_names_the_others(run: tm.Run) -> None:
    with pytest.raises(KeyError, match="`goodput_mbps`"):
        run.flows["speed"]


def test_a_table_shows_itself(run: tm.Run) -> None:
    assert repr(run.flows).startswith("<table flows: 6 rows")
    assert run.flows._repr_html_().count("<tr>") == 7


def test_a_large_seed_is_unsigned() -> None:
    seed = 2**63 - 1
    short = tm.Scenario(
        duration="100 ms",
        repeat=2,
        seed=seed,
        path=tm.Path(rate="10 Mbit/s", rtt="20 ms"),
        flows=[tm.Flow("reno")],
    )
    flows = short.run(["simulate"]).flows
    assert read(flows)["seed"] == [seed, seed + 1]


def test_polars_reads_it(run: tm.Run) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(run.flows)
    assert frame.columns == run.flows.columns
    assert frame.to_dict(as_series=False) == {name: run.flows[name] for name in frame.columns}


def test_pyarrow_reads_it(run: tm.Run) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    for table in run.tables.values():
        read_back = pyarrow.table(table)
        read_back.validate(full=True)
        assert read_back.to_pydict() == {name: table[name] for name in table.columns}


def test_pandas_reads_it(run: tm.Run) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    if not hasattr(pandas.DataFrame, "from_arrow"):
        pytest.skip("this pandas has no `from_arrow`")
    frame = pandas.DataFrame.from_arrow(run.flows)
    assert list(frame.columns) == run.flows.columns and len(frame) == len(run.flows)


def test_duckdb_reads_it(run: tm.Run) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    flows = run.flows
    found = duckdb.sql("select count(*) from flows where engine = 'simulate'").fetchall()
    assert found == [(len(flows),)]
