"""Samples of weighed lanes: joined to sleeps by reference, the control without its own; rules of mixed blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.examples.judge_examples import QUIET, code_of, inputs, open_loop, rate_load, window, with_client
from tests.examples.trace_examples import ANSWER, MS, US, plain
from weighbridge.errors import StoreError
from weighbridge.judge.calibration.joined_quantiles import sampling_error_ns
from weighbridge.judge.calibration.known_delays import CONTROL_NEEDED, is_thin, measure
from weighbridge.judge.calibration.lane_samples import burnt_ms, delay_block, lane_samples, measured_lane, timed_rows
from weighbridge.judge.inputs import Attempted
from weighbridge.judge.run.block_acceptance import judge_block
from weighbridge.judge.window import Trace
from weighbridge.record.truth_rows import DelayRows, read_delay_rows


def ns(*values: int) -> np.ndarray:
    """Whole nanoseconds."""
    return np.array(values, dtype=np.int64)


def facts(count: int, **legs: object) -> Trace:
    """A window of non-streaming responses of 20 ms."""
    return Trace("plain", ANSWER, plain(count, **legs), 0)


def test_sleeps_are_joined_by_reference_in_the_order_of_the_requests() -> None:
    """Whatever order a gateway recorded in, each request gets its own sleep; one without a record is left out."""
    given = facts(4, request_path_ns=ns(1 * MS, 2 * MS, 3 * MS, 4 * MS))
    recorded = DelayRows(ns(7_003, 9_999, 7_000, 7_002), ns(40, 5, 10, 30), ns(4, 0, 1, 3), ns(-1, -1, -1, -1))

    found = measured_lane(given, timed_rows(given), recorded)

    assert found.sleeps.ns.tolist() == [10, 30, 40]
    assert found.sleeps.late_ns.tolist() == [1, 3, 4]
    assert found.samples.added_ns.tolist() == [1 * MS + 60 * US, 3 * MS + 60 * US, 4 * MS + 60 * US]
    assert len(measured_lane(given, timed_rows(given), DelayRows(ns(), ns(), ns(), ns()))) == 0


def test_the_tare_is_without_its_own_sleep() -> None:
    """What the control held its requests is taken from added and total time alike."""
    given = facts(3)
    found = measured_lane(
        given, timed_rows(given), DelayRows(ns(7_000, 7_001, 7_002), ns(9, 8, 7), ns(0, 0, 0), ns(-1, -1, -1))
    )

    assert (found.samples.added_ns - found.net.added_ns).tolist() == [9, 8, 7]
    assert (found.samples.total_ns - found.net.total_ns).tolist() == [9, 8, 7]


def test_a_stream_is_weighed_to_its_first_content() -> None:
    """Of a stream added and total time end with the first content, not with the end."""
    requests = replace(plain(2), first_content_ns=plain(2).send_ns + 50 * US)
    given = Trace("stream", ANSWER, requests, 0)

    found = lane_samples(given, np.array([True, True]))

    assert found.added_ns.tolist() == [130 * US] * 2
    assert found.total_ns.tolist() == [20 * MS + 130 * US] * 2


def test_the_tares_of_a_block_are_one() -> None:
    """Every sample of both is kept, without its sleep, and beside it how late it was released."""
    given = facts(2)
    one = measured_lane(given, timed_rows(given), DelayRows(ns(7_000, 7_001), ns(9, 8), ns(2, 1), ns(-1, -1)))

    made = delay_block(3, one, [one, one])

    assert (made.block, made.sleeps.ns.tolist(), made.control_late_ns.tolist()) == (3, [9, 8], [2, 1, 2, 1])
    assert made.control.added_ns.tolist() == (2 * (one.samples.added_ns - one.sleeps.ns).tolist())


def test_the_known_burn_is_that_of_the_window_alone() -> None:
    """Requests of a warm-up are in the gateway's record and not in the mean; no record of CPU is no burn."""
    given = facts(2)
    rows = DelayRows(ns(7_000, 7_001, 5), ns(0, 0, 0), ns(0, 0, 0), ns(2 * MS, 4 * MS, 90 * MS))

    assert burnt_ms(given, rows) == pytest.approx(3.0)
    assert burnt_ms(given, replace(rows, cpu_ns=ns(-1, -1, -1))) is None


def test_a_gateways_record_is_read_back() -> None:
    """Letters become the signed number that the probe has; requests without a reference are no rows."""
    text = b"reference,start_ns,end_ns\naaaaaaaaaaaaaaab,100,250\n,1,2\npppppppppppppppp,0,7\n"

    rows = read_delay_rows(text, origin="delays.csv")

    assert (rows.reference.tolist(), rows.slept_ns.tolist(), rows.cpu_ns.tolist()) == ([1, -1], [150, 7], [-1, -1])
    assert rows.late_ns.tolist() == [0, 0]
    asked = read_delay_rows(b"reference,start_ns,end_ns,asked_ns\naaaaaaaaaaaaaaab,100,250,120\n", origin="x")
    assert (asked.slept_ns.tolist(), asked.late_ns.tolist()) == ([150], [30])
    burnt = read_delay_rows(b"reference,start_ns,end_ns,cpu_ns\naaaaaaaaaaaaaaab,1,2,33\n", origin="x")
    assert burnt.cpu_ns.tolist() == [33]


@pytest.mark.parametrize(
    "text", [b"a,b\n1,2\n", b"reference,start_ns,end_ns\nabc,x,1\n", b"reference,start_ns,end_ns\nab,1\n"]
)
def test_a_damaged_record_is_refused(text: bytes) -> None:
    """The sentence names the file."""
    with pytest.raises(StoreError, match=r"delays\.csv"):
        read_delay_rows(text, origin="delays.csv")


def block_inputs(*, steal_pct: float = 0.0, death: str | None = None) -> Attempted:
    """A faultless block, but for steal or a death."""
    load = rate_load(290, 580)
    facts = window(load, open_loop(load, 0.021), tool="probe")
    requests = plain(load.window_count)
    facts = with_client(facts, trace=Trace("plain", ANSWER, requests, load.connections), sees_stamps=True)
    return inputs(facts, load_after=QUIET.model_copy(update={"steal_pct": steal_pct}), death=death)


def test_a_quiet_block_counts() -> None:
    """Without steal a block is accepted."""
    assert judge_block(block_inputs()).accepted


def test_stolen_time_voids_a_block() -> None:
    """Above 1 % of stolen CPU a block is rejected; at the limit it is not."""
    found = judge_block(block_inputs(steal_pct=1.1))

    assert judge_block(block_inputs(steal_pct=1.0)).accepted
    assert (found.accepted, code_of(found)) == (False, "steal")


def test_other_faults_of_a_block_keep_their_reason() -> None:
    """A block that no rule of a run accepts is rejected for that."""
    broken = block_inputs(steal_pct=50.0, death="died of SIGKILL")

    assert code_of(judge_block(broken)) == "crashed"


def test_few_samples_widen_a_limit_and_many_do_not() -> None:
    """What 40 samples cannot show is not judged; a full block is judged by the plain limit."""
    from tests.examples.calibration_examples import constant, lane  # noqa: PLC0415 - one test's need
    from weighbridge.judge.calibration.known_delays import DelayBlock, KnownDelay  # noqa: PLC0415

    def limit_of(count: int, blocks: int) -> float:
        made = tuple(
            DelayBlock(
                n,
                lane(n, count, slept_ns=3 * MS),
                constant(count, 3 * MS),
                lane(n + 9, 1400),
                constant(1400, 0).late_ns,
            )
            for n in range(blocks)
        )
        return measure(KnownDelay("delay-3ms", "plain", "mixed", "quiet", made))[2].limit_ms

    assert limit_of(700, 3) == pytest.approx(0.05 * 3, rel=0.01)
    assert sampling_error_ns(lane(1, 4000).added_ns, 0.5) < sampling_error_ns(lane(1, 40).added_ns, 0.5)
    assert (is_thin(2, 700, CONTROL_NEEDED), is_thin(3, 700, CONTROL_NEEDED)) == (True, False)
