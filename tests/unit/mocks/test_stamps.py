"""References and stamps: what is written is read back, what is damaged is never decoded."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mocks import stamps

NUMBERS = st.integers(min_value=0, max_value=2**64 - 1)
SEQUENCES = st.integers(min_value=0, max_value=stamps.SEQUENCE_LIMIT_COUNT - 1)


@given(NUMBERS)
def test_reference_is_read_back_from_a_prompt(number: int) -> None:
    """A reference in JSON among other text is found and stands for the number that was written."""
    body = json.dumps({"content": f"hello {stamps.encode_reference(number).decode()} world"}).encode()

    found = stamps.find_reference(body)

    assert found is not None
    assert stamps.decode_number(found) == number


@given(NUMBERS, NUMBERS, SEQUENCES)
def test_stamps_are_read_back_from_one_text(recv_ns: int, send_ns: int, sequence: int) -> None:
    """A stamp and a chunk stamp side by side in one text do not disturb each other."""
    text = b"so " + stamps.encode_stamp(recv_ns, send_ns) + b" " + stamps.encode_chunk_stamp(send_ns, sequence) + b" "

    assert stamps.find_stamp(text) == stamps.Stamp(recv_ns, send_ns)
    assert stamps.find_chunk_stamps(text) == [stamps.ChunkStamp(send_ns, sequence)]


def test_chunk_stamps_come_in_the_order_of_the_text() -> None:
    """All chunk stamps of a text are found; a damaged one between them is left out, not guessed."""
    good = [stamps.encode_chunk_stamp(10 + place, place) for place in range(3)]
    text = good[0] + b" " + good[1][:-1] + b"! " + good[2]

    assert [stamp.sequence for stamp in stamps.find_chunk_stamps(text)] == [0, 2]


def test_codes_are_letters_only() -> None:
    """No digit and no sign is in any code: policies hunt for digit runs."""
    codes = [stamps.encode_reference(2**64 - 1), stamps.encode_stamp(1, 2), stamps.encode_chunk_stamp(3, 65535)]

    assert all(set(code.decode()) <= set(string.ascii_lowercase) for code in codes)


def test_format_is_the_published_one() -> None:
    """The bytes of one code of each kind, written out: two programs must agree on them."""
    letters = "abcdefghijklmnop"
    check = letters[sum(f"weighref{letters}".encode()) % 16]

    assert stamps.encode_reference(0x0123456789ABCDEF).decode() == f"weighref{letters}{check}"
    assert stamps.encode_chunk_stamp(0x1F, 2).decode()[:-1] == "weighchunk" + "a" * 14 + "bp" + "aaac"
    assert stamps.encode_stamp(0x10, 0x11).decode()[:-1] == "weighstamp" + "a" * 14 + "ba" + "a" * 14 + "bb"


@pytest.mark.parametrize("place", range(stamps.STAMP_BYTES))
def test_any_changed_letter_is_noticed(place: int) -> None:
    """A stamp with any one byte replaced by any other letter or digit is not decoded."""
    good = stamps.encode_stamp(123_456_789_012_345, 123_456_809_012_345)

    for other in (string.ascii_letters + string.digits + " !").encode():
        if other != good[place]:
            bad = good[:place] + bytes([other]) + good[place + 1 :]
            assert stamps.find_stamp(b"x " + bad + b" y") is None, bad


def test_capitals_are_damage() -> None:
    """A policy that changes case destroys the stamp, although the sum of the bytes stays the same modulo 16."""
    assert stamps.find_reference(b"weighref" + stamps.encode_reference(7)[8:].upper()) is None


@pytest.mark.parametrize("length", range(stamps.REFERENCE_BYTES))
def test_a_cut_reference_is_not_found(length: int) -> None:
    """A reference cut anywhere is not decoded."""
    assert stamps.find_reference(stamps.encode_reference(0xFEDCBA9876543210)[:length]) is None


def test_a_damaged_code_does_not_hide_a_good_one() -> None:
    """The first undamaged reference is taken, whatever stands before it."""
    good = stamps.encode_reference(5)

    assert stamps.find_reference(b"weighref weighrefabc " + good[:-1] + b"! " + good) == good[8:-1]
