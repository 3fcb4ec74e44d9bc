"""Files that are broken, damaged or meant to hurt: refused in one sentence, or read."""

from __future__ import annotations

import copy
import gzip
import io
import json
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.errors import ImportRefused
from app.importers import archives
from app.importers.reader import read
from app.importers.values import SourceFile
from tests.unit.importers.sources import (
    FILES,
    ROOT,
    call,
    faults,
    read_data,
    read_lines,
    said,
    texts,
    typed,
)

SMALL = [name for name in FILES if (ROOT / name).stat().st_size < 30_000]
JUNK = st.sampled_from(
    [
        None,
        0,
        -1,
        1.5,
        True,
        "",
        " ",
        "x",
        [],
        {},
        [None],
        {"a": 1},
        {"type": []},
        "\ud800\0",
        10**30,
    ]
)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "line 1"),
        (b"hello\nworld", "line 1"),
        (b"[" * 100_000, "line 1"),
        (b'{"a": ' * 100_000, "line 1"),
        (b"42", "line 1"),
        (b"{}", "no format"),
        (b'{"some": "json"}', "no format"),
        (b"[]", "no format"),
        (b'{"type": "summary", "summary": "x", "leafUuid": "y"}', "no message"),
        (b"\x1f\x8bnot gzip", "broken"),
        (b"PK\x03\x04not a zip", "broken"),
    ],
)
def test_what_is_no_transcript_is_refused_in_a_sentence(data, says):
    with pytest.raises(ImportRefused) as refused:
        read_data(data)
    assert says in refused.value.detail


def test_no_file_at_all_is_refused():
    with pytest.raises(ImportRefused):
        read([])


def _places(value, found):
    for key in value if isinstance(value, dict) else range(len(value)):
        found.append((value, key))
        if isinstance(value[key], (dict, list)):
            _places(value[key], found)
    return found


def _values(name):
    data = (ROOT / name).read_text()
    if not name.endswith(".jsonl"):
        return json.loads(data)
    return [json.loads(line) for line in data.splitlines() if line.startswith("{")]


@settings(deadline=None, max_examples=200, suppress_health_check=list(HealthCheck))
@given(data=st.data(), name=st.sampled_from(SMALL))
def test_a_file_with_anything_in_it_replaced_imports_or_is_refused(data, name):
    value = copy.deepcopy(_values(name))
    for _ in range(data.draw(st.integers(1, 5))):
        places = _places(value, [])
        if places:
            container, key = data.draw(st.sampled_from(places))
            container[key] = copy.deepcopy(data.draw(JUNK))
    is_lines = name.endswith(".jsonl")
    text = "\n".join(json.dumps(each) for each in value) if is_lines else json.dumps(value)
    try:
        found = read_data(text)
    except ImportRefused:
        return
    for imported in found:
        json.dumps(imported.report)
        assert [fault for fault in faults(imported) if fault.code not in _OF_THE_END] == []


_OF_THE_END = {"text_after_result_server"}  # a server tool still runs: nothing may follow yet


def test_nul_and_lone_surrogates_are_replaced_everywhere():
    [imported] = read_lines(
        typed("a", None, "nul \0 and half \ud83d"),
        said("b", "a", call("t", **{"key\0": ["\udc00"]}), of="m"),
    )
    assert texts(imported) == ["nul \ufffd and half \ufffd"]
    assert imported.messages[1].blocks[0]["input"] == {"key\ufffd": ["\ufffd"]}
    assert faults(imported) == []


def test_what_no_json_should_hold_does_not_stop_an_import():
    """Bytes that are not UTF-8, NaN, numbers beyond all bounds, lines that are too deep."""
    lines = [
        b'{"type": "user", "sessionId": "s", "message": {"content": "caf\xe9 \x1b[31mred"}}',
        b'{"type": "user", "sessionId": "s", "n": NaN, "m": 1e999, "message": {"content": "two"}}',
        b'{"type": "user", "sessionId": "s", "n": ' + b"9" * 5000 + b"}",
        b'{"type": "user", "message": {"content": ' + b"[" * 500 + b"]" * 500 + b"}}",
    ]
    [imported] = read_data(b"\n".join(lines))
    assert texts(imported) == ["caf\ufffd \x1b[31mred", "two"]
    assert imported.report["dropped"] == {"bad_lines": 2}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_are_understood(encoding):
    line = json.dumps(typed("a", None, "héllo"), ensure_ascii=False)
    [imported] = read_data(line.encode(encoding))
    assert texts(imported) == ["héllo"]


def test_many_records_of_one_id_cost_no_more_than_their_size():
    """Each of these took quadratic time with the obvious data structure."""
    calls = [said(f"u{n}", None, call("t"), of=f"m{n}") for n in range(3_000)]
    [imported] = read_lines(typed("a", None, "hi"), *calls)
    assert len({block["id"] for block in imported.messages[1].blocks}) == len(calls)


def test_archives_are_unpacked_within_limits_whatever_their_directory_says(monkeypatch):
    monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 10_000)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", b"\0" * 20_000)
    for data in (packed.getvalue(), gzip.compress(b"\0" * 20_000)):
        with pytest.raises(ImportRefused) as refused:
            read_data(data)
        assert "more than" in refused.value.detail


def test_archives_hold_a_bounded_number_of_files(monkeypatch):
    monkeypatch.setattr(archives, "MAX_FILES", 3)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(4):
            archive.writestr(str(number), b"{}")
    with pytest.raises(ImportRefused):
        read_data(packed.getvalue())


def test_an_encrypted_archive_is_refused():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a", b"{}")
    data = bytearray(packed.getvalue())
    data[6] |= 1  # the flag of the entry, and the same in the directory
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(ImportRefused):
        read([SourceFile("a", bytes(data))])


def test_numbers_that_json_cannot_hold_become_null():
    line = json.dumps(said("b", None, call("t", much="?"), of="m")).replace('"?"', "1e999")
    [imported] = read_data(line)
    assert imported.messages[1].blocks[0]["input"] == {"much": None}


def test_what_does_not_look_like_a_kind_is_not_named_in_the_report():
    strange = [{"type": kind, "sessionId": "s"} for kind in ("me@example.com", "sk-REDACTED", "é")]
    [imported] = read_lines(typed("a", None, "hi"), *strange)
    assert imported.report["kept_not_understood"] == {"record:other": 3}
