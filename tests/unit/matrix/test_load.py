"""Reading a matrix file: units, defaults, the quick reading, folders and flags."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.examples.matrix_samples import DATA, SMALL, loaded
from weighbridge.errors import InputError
from weighbridge.load.drivers import TRAITS
from weighbridge.matrix.load import parsed_path, read_matrix
from weighbridge.matrix.suggest import listed
from weighbridge.matrix.yamltext import path_text

DRIVERS = f"expected {listed(TRAITS)}"
QUICK = DATA / "matrices" / "good" / "quick.yaml"


def test_units_become_seconds_and_bytes(tmp_path: Path) -> None:
    """Inside there are only seconds, bytes and requests per second."""
    matrix = loaded(tmp_path).matrix

    assert matrix.answers["20ms"].delay_s == 0.02
    assert matrix.answers["20ms"].gap_s == 0.005
    assert matrix.payloads["1k"].user_bytes == 1024
    assert matrix.loads.rate is not None
    assert matrix.loads.rate.duration_s == 30.0
    assert matrix.loads.rate.per_second == (50.0,)


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    """Warm-up 25, time-out 60 s, connections auto, driver oha, two attempts a run, no load limit."""
    matrix = loaded(tmp_path).matrix

    assert matrix.loads.rate is not None
    assert matrix.loads.rate.warmup_count == 25
    assert matrix.loads.rate.timeout_s == 60.0
    assert matrix.loads.rate.connections is None
    assert matrix.driver == "oha"
    assert matrix.accept.attempts_per_run == 2
    assert matrix.accept.load_limit_per_cpu is None
    assert matrix.accept.gate_wait_s == 60.0
    assert (matrix.idle.quiet_s, matrix.idle.gateway_s) == (5.0, None)
    assert matrix.goodput is None


def test_the_file_is_kept_byte_for_byte(tmp_path: Path) -> None:
    """Text and digest are those of the file, remarks included."""
    read = loaded(tmp_path)

    assert read.text == SMALL.encode()
    assert read.sha256 == hashlib.sha256(SMALL.encode()).hexdigest()


def test_a_matrix_cannot_be_changed(tmp_path: Path) -> None:
    """The document is frozen."""
    with pytest.raises(ValidationError):
        loaded(tmp_path).matrix.runs = 5  # type: ignore[misc]


def test_quick_replaces_keys_and_merges_loads_one_level_deeper() -> None:
    """What quick names is replaced, a load it names is changed key by key, null drops one, all else stays."""
    matrix = read_matrix(QUICK, TRAITS, quick=True).matrix

    assert matrix.runs == 1
    assert matrix.grade == "smoke"
    assert matrix.chains == ("none",)
    assert matrix.loads.clients is None
    assert matrix.loads.rate is not None
    assert matrix.loads.rate.per_second == (20.0,)
    assert matrix.loads.rate.connections == 9
    assert [entry.id for entry in matrix.gateways] == ["alpha", "beta"]


def test_without_quick_the_quick_section_changes_nothing() -> None:
    """The full reading is that of the other keys."""
    matrix = read_matrix(QUICK, TRAITS).matrix

    assert matrix.runs == 3
    assert matrix.loads.clients is not None


def test_places_follow_what_was_written_under_quick() -> None:
    """A key that quick replaced is located below `quick:`, another where it always was."""
    read = read_matrix(QUICK, TRAITS, quick=True)

    assert str(read.place("loads.rate.duration")) == f"{QUICK}:22:40: quick.loads.rate.duration"
    assert str(read.place("loads.rate.connections")).endswith(":13:61: loads.rate.connections")
    assert str(read.place("gateways[1]")).endswith(":6:19: gateways[1]")


def test_quick_without_a_quick_section_is_refused(tmp_path: Path) -> None:
    """A quick run needs to be described."""
    with pytest.raises(InputError, match=r"quick: is missing; expected keys that a quick run replaces"):
        loaded(tmp_path, quick=True)


@pytest.mark.parametrize("text", ["", "# nothing\n", "just words\n", "[1, 2]\n", "null\n"])
def test_a_file_without_keys_is_refused(tmp_path: Path, text: str) -> None:
    """Empty files, plain text and lists are no matrices."""
    file = tmp_path / "matrix.yaml"
    file.write_text(text)

    with pytest.raises(InputError, match=r"matrix.yaml.*: is (empty|no mapping); expected"):
        read_matrix(file, TRAITS)


def test_a_missing_file_is_refused_with_the_one_beside_it(tmp_path: Path) -> None:
    """A misspelt file name is answered with the near one."""
    (tmp_path / "matrix.yaml").write_text(SMALL)

    with pytest.raises(InputError, match=r"matrx\.yaml: does not exist; expected .*Did you mean .*/matrix\.yaml\?"):
        read_matrix(tmp_path / "matrx.yaml", TRAITS)


def test_a_folder_is_no_matrix(tmp_path: Path) -> None:
    """A folder in the place of a file is named as such."""
    with pytest.raises(InputError, match="is a folder; expected a matrix file"):
        read_matrix(tmp_path, TRAITS)


def test_a_path_below_a_file_is_no_matrix(tmp_path: Path) -> None:
    """Other faults of the file system are said in the words of the system."""
    (tmp_path / "file").write_text("")

    with pytest.raises(InputError, match=r"cannot be read \(Not a directory\)"):
        read_matrix(tmp_path / "file" / "matrix.yaml", TRAITS)


def test_disks_are_read_from_the_folder_of_the_matrix(tmp_path: Path) -> None:
    """A relative path starts at the matrix; a disk without a path is `.weighbridge/state` beside it."""
    (tmp_path / "fast").mkdir()
    read = loaded(tmp_path, ("{work: {}}", "{work: {}, fast: {path: fast}}"))

    assert read.state_folder("work") == (tmp_path / ".weighbridge" / "state").resolve()
    assert read.state_folder("fast") == (tmp_path / "fast").resolve()


def test_a_near_folder_is_suggested(tmp_path: Path) -> None:
    """A misspelt disk path is answered with the near folder."""
    (tmp_path / "nvme").mkdir()

    with pytest.raises(InputError, match=r"disks\.work\.path: 'nvmee' does not exist; .*Did you mean nvme\?"):
        loaded(tmp_path, ("{work: {}}", "{work: {path: nvmee}}"))


def test_two_names_of_one_folder_are_refused(tmp_path: Path) -> None:
    """A disk is not compared with itself by another spelling of its path."""
    (tmp_path / "a").mkdir()

    with pytest.raises(InputError, match=r"disks\.b\.path: is the same folder as the disk a"):
        loaded(tmp_path, ("{work: {}}", "{a: {path: a}, b: {path: ./a/../a}}"))


def test_flags_replace_runs_and_driver(tmp_path: Path) -> None:
    """Overrides change the document and nothing of the file."""
    read = loaded(tmp_path)
    changed = read.override(runs=5, driver="oha")

    assert changed.matrix.runs == 5
    assert changed.text == read.text
    assert read.override().matrix == read.matrix


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"runs": 0}, "--runs: 0 is out of range; expected 1 to 1,000"),
        ({"runs": 5000}, "--runs: 5,000 is out of range; expected 1 to 1,000"),
        ({"driver": "ohha"}, "--driver: 'ohha' cannot be selected; " + DRIVERS + ". Did you mean oha?"),
    ],
)  # fmt: skip
def test_flags_that_cannot_be_are_refused(tmp_path: Path, flags: dict[str, object], message: str) -> None:
    """Bad flags are sentences as bad keys are."""
    with pytest.raises(InputError) as detected:
        loaded(tmp_path).override(**flags)  # type: ignore[arg-type]

    assert str(detected.value) == message


_NAMES = st.sampled_from(["none", "alpha", "1k", "oha", "kind", "-1s", "30s", "1e9", "", "a b", "\x1b", "9" * 30])
_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.floats(-1e18, 1e18) | _NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whatever_stands_in_one_place_the_answer_is_a_matrix_or_one_sentence(data: st.DataObject) -> None:
    """Any value put in the place of any other is accepted or refused in one line with its place; nothing escapes."""
    document = yaml.safe_load(SMALL)
    document["quick"] = {"runs": 1, "loads": {"rate": {"per_second": [20]}}, "accept": {"gate_wait": "1s"}}
    node: Any = document
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = data.draw(st.sampled_from(keys))
        if isinstance(node[key], dict | list) and node[key] and data.draw(st.booleans()):
            node = node[key]
            continue
        node[key] = data.draw(_ANYTHING)
        break
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "matrix.yaml"
        file.write_text(json.dumps(document))
        try:
            read_matrix(file, TRAITS)
        except InputError as error:
            message = str(error)
        else:
            message = f"{file}:1:"

    assert message.startswith(f"{file}:1:")
    assert message.isprintable()


@pytest.mark.parametrize(
    "text", ["loads.rate.per_second[2]", "a", "payloads.8k-long.user", "config[0].template", "a[1][2]"]
)
def test_key_paths_are_read_as_they_are_written(text: str) -> None:
    """Parsing a key path and writing it again gives the same text."""
    assert path_text(parsed_path(text)) == text


def test_several_faults_are_told_in_the_order_of_the_file(tmp_path: Path) -> None:
    """The first fault of the file is told; a missing key only when nothing else is wrong."""
    with pytest.raises(InputError, match=r"title: is a list"):
        loaded(tmp_path, ("A small matrix", "[a]"), ("seed: 7", "sead: x"), ("runs: 3", "runs: many"))
    with pytest.raises(InputError, match=r"sead: is no known key; .*Did you mean seed\?"):
        loaded(tmp_path, ("seed: 7", "sead: 7"))


def test_bounds_of_goodput_are_durations(tmp_path: Path) -> None:
    """Either may be left out; what is no duration is refused."""
    found = loaded(tmp_path, ("seed: 7", "seed: 7\ngoodput: {ttft: 200ms, end: 1s}")).matrix.goodput
    assert found is not None
    assert (found.bounds.ttft_s, found.bounds.end_s) == (0.2, 1.0)
    with pytest.raises(InputError, match="has no unit"):
        loaded(tmp_path, ("seed: 7", "seed: 7\ngoodput: {end: 1}"))
