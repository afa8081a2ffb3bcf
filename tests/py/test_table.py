"""Tables of the core as NumPy arrays: layout, lifetime, validity, pickling, Arrow."""

from __future__ import annotations

import ctypes
import gc
import pickle
import threading

import numpy as np
import pytest

from tickgauge import _core, errors

WORDS = [b"wakeup", b"sleep", b"bad \xff\xc3 bytes", b""]
BAD_TEXT = b"bad \xff\xc3 bytes".decode(errors="replace")


def make(rows: int = 5) -> _core.Table:
    index = np.arange(rows)
    return _core.table_from_columns(
        [
            ("counter", "u64", 0, (np.uint64(2**64 - 1) - index.astype("u8")), None, None),
            ("delta", "i64", -3, -index.astype("i8"), index % 2 == 0, None),
            ("core", "u32", 0, index.astype("u4"), None, None),
            ("mean", "f64", 0, index / 4, index != 1, None),
            ("good", "bool", 0, index % 3 == 0, index != 2, None),
            ("metric", "text", 0, (index % 4).astype("u4"), index != 0, WORDS),
        ]
    )


def test_columns_hold_what_was_given():
    table = make()
    assert table.names == ("counter", "delta", "core", "mean", "good", "metric")
    assert table.types == ("u64", "i64", "u32", "f64", "bool", "text")
    assert table.exponents == (0, -3, 0, 0, 0, 0)
    assert len(table) == 5
    assert table.column("counter").dtype == np.uint64
    assert table.column("counter").tolist() == [2**64 - 1 - i for i in range(5)]
    assert table.column("delta").dtype == np.int64
    assert table.column("delta")[::2].tolist() == [0, -2, -4]
    assert table.valid("delta").tolist() == [True, False, True, False, True]
    assert table.column("mean").tolist() == [0.0, 0.0, 0.5, 0.75, 1.0]  # a missing item is zero
    assert table.column("good").dtype == np.bool_
    assert table.words("metric") == tuple(WORDS)
    assert table.words("core") is None
    assert table.column(5).tolist() == [0, 1, 2, 3, 0]
    assert table.mask.tolist() == [0b011111, 0b110101, 0b101111, 0b111101, 0b111111]


def test_columns_are_views_that_cannot_be_written():
    table = make()
    first, second = table.column("counter"), table.column("counter")
    assert np.shares_memory(first, second)
    assert first.base is table
    assert not first.flags.writeable
    assert not table.mask.flags.writeable
    with pytest.raises(ValueError):
        first[0] = 1
    with pytest.raises(ValueError):
        first.flags.writeable = True


def test_a_column_outlives_its_table():
    column = make(100_000).column("counter")
    gc.collect()
    noise = [make(1000) for _ in range(50)]  # would reuse the memory had it been freed
    assert column[0] == 2**64 - 1
    assert column[-1] == 2**64 - 100_000
    assert len(noise) == 50


def test_words_are_merged_and_missing_indices_ignored():
    table = _core.table_from_columns(
        [("t", "text", 0, np.array([0, 1, 2, 9], "u4"), [True, True, True, False], ["a", "b", "a"])]
    )
    assert table.words("t") == (b"a", b"b")
    assert table.column("t").tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("columns", "error", "says"),
    [
        ([], ValueError, "columns"),
        ([("a", "u64", 0, [1], None, None)] * 2, ValueError, "distinct"),
        ([("a", "u99", 0, [1], None, None)], ValueError, "u99"),
        ([("a", "u64", 0, [[1]], None, None)], ValueError, "dim|deep"),
        ([("a", "u32", 0, np.array([1.5]), None, None)], TypeError, "float64"),
        ([("a", "i64", 0, [1], None, None), ("b", "i64", 0, [1, 2], None, None)], ValueError, "2"),
        ([("a", "i64", 0, [1], [True, True], None)], ValueError, "rows"),
        ([("a", "text", 0, np.array([1], "u4"), None, ["x"])], ValueError, "word 1 of 1"),
        ([("a", "text", 0, np.array([0], "u4"), None, None)], TypeError, "NoneType"),
        ([("a", "i64", 0, [1])], TypeError, "column is"),
        (["abc"], TypeError, "tuple"),
    ],
)
def test_wrong_columns_are_refused(columns, error, says):
    with pytest.raises(error, match=says):
        _core.table_from_columns(columns)


def test_wrong_names_and_indices():
    table = make()
    with pytest.raises(KeyError, match="nothing"):
        table.column("nothing")
    with pytest.raises(IndexError):
        table.column(6)
    with pytest.raises(TypeError):
        _core.Table()


def test_an_empty_table():
    table = make(0)
    assert len(table) == 0
    assert table.column("delta").shape == (0,)
    assert table.mask.shape == (0,)
    assert pickle.loads(pickle.dumps(table)).names == table.names


def test_pickling_keeps_everything():
    table = make(50)
    again = pickle.loads(pickle.dumps(table))
    assert again.names == table.names
    assert again.types == table.types
    assert again.exponents == table.exponents
    assert again.mask.tolist() == table.mask.tolist()
    for name in table.names:
        assert again.column(name).tolist() == table.column(name).tolist()
        assert again.words(name) == table.words(name)


def test_errors_survive_pickling():
    error = errors.InputError("torn", path="a.log", line=7, offset=90, status=9)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is errors.InputError
    assert (again.path, again.line, again.offset) == ("a.log", 7, 90)
    assert again.status is errors.Status.ETRUNCATED
    assert str(again) == "a.log, line 7: torn"
    assert isinstance(again, ValueError)


EXPECTED = {
    "counter": [2**64 - 1 - i for i in range(5)],
    "delta": [0, None, -2, None, -4],
    "core": [0, 1, 2, 3, 4],
    "mean": [0.0, None, 0.5, 0.75, 1.0],
    "good": [True, False, None, True, False],
    "metric": [None, "sleep", BAD_TEXT, "", "wakeup"],
}


def test_arrow_with_pyarrow():
    pa = pytest.importorskip("pyarrow")
    table = make()
    batch = pa.record_batch(table)
    batch.validate(full=True)
    assert batch.to_pydict() == EXPECTED
    assert batch.schema.field("metric").type == pa.dictionary(pa.int32(), pa.string())
    assert batch.schema.field("delta").metadata == {b"tickgauge:exp10": b"-3"}
    for _ in range(2):  # re-callable
        read = pa.table(table)
        read.validate(full=True)
        assert read.to_pydict() == EXPECTED
    # integers are not copied
    address = batch.column("counter").buffers()[1].address
    assert address == table.column("counter").__array_interface__["data"][0]


def test_arrow_with_nanoarrow():
    na = pytest.importorskip("nanoarrow")
    array = na.Array(make())
    rows = array.to_pylist()
    assert rows == [{k: v[i] for k, v in EXPECTED.items()} for i in range(5)]


def test_arrow_with_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(make())
    assert frame.to_dict(as_series=False) == EXPECTED


def test_arrow_of_an_empty_table():
    pa = pytest.importorskip("pyarrow")
    read = pa.table(make(0))
    read.validate(full=True)
    assert read.num_rows == 0
    assert read.column_names == list(make(0).names)


def test_arrow_memory_outlives_python_objects():
    pa = pytest.importorskip("pyarrow")
    column = pa.record_batch(make(100_000)).column("counter")
    gc.collect()
    assert column[99_999].as_py() == 2**64 - 100_000


def test_capsules_that_nobody_reads_are_freed():
    table = make()
    for _ in range(100):
        table.__arrow_c_schema__()
        table.__arrow_c_array__()
        table.__arrow_c_stream__()
    with pytest.raises(TypeError):
        table.__arrow_c_array__(1, 2)


def test_arrow_release_needs_no_gil():
    """Release an exported array through its C function while another thread holds the GIL."""
    release_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = make(1000).__arrow_c_array__()[1]
    address = pointer(capsule, b"arrow_array")
    words = (ctypes.c_void_p * 10).from_address(address)
    assert words[0] == 1000  # length
    # CDLL-style function types drop the GIL around the call: no Python may run in there.
    thread = threading.Thread(target=release_type(words[8]), args=(address,))
    thread.start()
    thread.join()
    assert not words[8]  # released: the capsule's own end then does nothing
