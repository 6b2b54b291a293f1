"""Strict YAML: what becomes data, where it stands, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbridge.errors import InputError
from weighbridge.matrix.yamltext import path_text, read_yaml

FILE = Path("some.yaml")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("null", None), ("", None), ("true", True), ("false", False), ("12", 12), ("-3", -3), ("1.50", 1.5),
        ("yes", "yes"), ("on", "on"), ("True", "True"), ("~", "~"), ("1e3", "1e3"), ("017", "017"), ("0x1f", "0x1f"),
        ("12:30:00", "12:30:00"), ("2026-10-23", "2026-10-23"), ("1.108.7", "1.108.7"), ("1_000", "1_000"),
        ('"12"', "12"), ("'null'", "null"), ("127.0.0.1", "127.0.0.1"), (".5", ".5"), ("5.", "5."),
    ],
)  # fmt: skip
def test_only_null_truth_and_decimal_numbers_are_not_text(written: str, value: object) -> None:
    """What YAML 1.1 would turn into truth values, dates, octal or base-60 numbers stays text."""
    assert read_yaml(FILE, f"key: {written}\n".encode()).data == {"key": value}


def test_every_key_and_value_knows_its_place() -> None:
    """Line and column of keys, values and list entries are those that an editor shows."""
    read = read_yaml(FILE, b"a:\n  b: [1, {c: x}]\n# remark\nd: 2\n")

    assert str(read.place(("a", "b", 1, "c"))) == "some.yaml:2:14: a.b[1].c"
    assert str(read.place(("a", "b", 1, "c"), at_key=True)) == "some.yaml:2:11: a.b[1].c"
    assert str(read.place(("d",))) == "some.yaml:4:4: d"
    assert str(read.place(("d", "nowhere", 3))) == "some.yaml:4:4: d.nowhere[3]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "some.yaml: is empty; expected a mapping of keys and values"),
        (b"# only a remark\n", "some.yaml: is empty; expected a mapping of keys and values"),
        (b"a: 1\nb: \xff\n", "some.yaml:2:4: byte 0xff is not UTF-8; expected UTF-8 text"),
        ("a: 1".encode("utf-16"), "some.yaml:1:1: byte 0xff is not UTF-8; expected UTF-8 text"),
        (b'a: "\\ud800"\n', "some.yaml:1:4: a: holds a character that no text may hold; expected printable text"),
        (b'a: "x\\0y"\n', "some.yaml:1:4: a: holds a character that no text may hold; expected printable text"),
        (b"a: b: c\n", "some.yaml:1:5: is not YAML: mapping values are not allowed here"),
        (b"%YAML 3.0\n---\na: 1\n", "some.yaml:1:1: is not YAML: found incompatible YAML document (version 1.*"),
        (b"a: %x\n", "some.yaml:1:4: is not YAML: while scanning for the next token, found character '%' that"),
        (b"a: ! x\n", "some.yaml:1:4: a: tags (!) are not allowed; expected the value alone"),
        (b"!!map {a: 1}\n", "some.yaml:1:1: tags (!!map) are not allowed; expected the value alone"),
        (b"? &k a\n: 1\n", "some.yaml:1:3: anchors (&k) are not allowed; expected the value alone"),
        (b"- 1\n- 2\n...\n- 3\n", "some.yaml:4:1: is not YAML: expected '<document start>', but found "),
        (b"a: " + b"x" * 2**20, "some.yaml: is larger than 1 MiB; expected a short YAML file"),
    ],
)  # fmt: skip
def test_what_is_not_plain_yaml_is_refused_where_it_stands(text: bytes, message: str) -> None:
    """Each refusal is one sentence with the place."""
    with pytest.raises(InputError) as detected:
        read_yaml(FILE, text)

    assert str(detected.value).startswith(message)
    assert "\n" not in str(detected.value)


def test_an_alias_bomb_is_refused_without_being_expanded() -> None:
    """What would expand to a billion words is refused at its first anchor, or this test never ends."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]

    with pytest.raises(InputError, match=r"some.yaml:1:5: a0: anchors \(&a0\) are not allowed"):
        read_yaml(FILE, "\n".join(lines).encode())


def test_a_key_with_control_characters_cannot_break_the_line() -> None:
    """A path is one printable line, whatever a key holds."""
    assert path_text(("a\nb", 0, "\x1b[31m")) == "a\\nb[0].\\x1b[31m"


_leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.text(st.characters(codec="utf-8", min_codepoint=32, max_codepoint=0xFFFF))
)
_documents = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcdef", min_size=1), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.dictionaries(st.text("abcxyz", min_size=1), _documents, min_size=1, max_size=5))
def test_json_written_into_a_file_reads_as_itself(document: dict[str, object]) -> None:
    """A JSON document without characters beyond U+FFFF is YAML as well and is read unchanged, with places."""
    text = json.dumps(document, ensure_ascii=False).replace("\x7f", "")
    read = read_yaml(FILE, json.dumps(json.loads(text)).encode())

    assert read.data == json.loads(text)
    assert all((key,) in read.spots for key in json.loads(text))


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_no_bytes_are_more_than_refused(text: bytes) -> None:
    """Whatever bytes a file holds, the response is data or an InputError."""
    try:
        read_yaml(FILE, text)
    except InputError as error:
        message = str(error)
    else:
        message = "some.yaml"

    assert message.startswith("some.yaml")
    assert "\n" not in message
