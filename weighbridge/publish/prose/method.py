"""Method and limits in words, with the settings of the campaign in their places."""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.text.wording import ADDED_BASELINE_TEXT, ADDED_TEXT, SHIFT_ALONE_TEXT, SHIFT_TEXT
from weighbridge.publish.views.conditions import cores_text
from weighbridge.publish.views.headline import measures_added
from weighbridge.publish.views.shared import loaded_warning
from weighbridge.publish.views.views import Fact
from weighbridge.record.codes import FLAGS, VERDICTS
from weighbridge.record.metrics import ValueKey
from weighbridge.record.summary import Summary

_MOCKS = """\
A mock provider that speaks the OpenAI chat-completions form and a mock control plane run on the machine under
test and respond on loopback. No real model takes part.
"""
_BLOCKS = """\
A block holds every selected cell once: lanes in a fresh order drawn from the seed, with their cells in one order; the
lane without a gateway (the baseline) is measured by the same code in the middle third of every block, and once more
for each 15 minutes of a longer one.
"""
_LANES = """\
In each block a gateway is started with an empty state folder and a clean environment. It is ready when a real
request through it succeeds for two seconds, or as long as its recipe says. One plain and one streamed request are
then compared with what the provider sent; what a gateway claims is tried, not believed.
"""
_WINDOWS = """\
The provider counts requests and distinct prompts, so a response that a cache gave is seen. Warm-up requests are left
out, and so is the first request of each connection, which pays for its connect.
"""
_CALL_KEYS: tuple[ValueKey, ...] = ("admission_calls_per_request", "background_calls_per_request")
_REMOTE_TEXT = "When it is remote, each call in the path adds a round trip to the request; those beside it add none."
_PROMPTS = {
    True: "In each block all lanes were given the same prompts, drawn from the seed",
    False: "Prompts are drawn from the seed; lanes of a block were given different ones of the same size",
    None: "Prompts are drawn from the seed",
}
_ACCEPTANCE = """\
A run counts unless more than 0.1 % of its requests failed (below 1,000: any), samples are missing, the provider saw
another number of requests than were sent, or the machine's load passed the limit of the matrix. What the rig spoiled
is repeated, at most up to twice the wanted runs; what the gateway spoiled is not, and counts against it. Every
rejected run is kept with its reason. No sample is dropped as an outlier.
"""
_STAMPS = """\
Stamps are letters in the text of a response and of every chunk, with a check letter; each prompt carries its own
reference. A response whose stamp was lost or bent has no added time; a stamp older than its request is a cache's
response and voids the cell.
"""
_SAMPLE_RULE = """\
A percentile with at least 10 samples beyond it is a figure (p95 needs 200 requests, p99 1,000). With 1 to 9 beyond
it is grey, carries its rank and stays out of intervals, sentences and charts; with none it is absent. Where the
probe's own loop was late, its requests count with their measured time, and the percentile is computed again with the
lengths of the late turns taken off; where the two differ by more than 2 % or 20 µs at p50, 5 % or 100 µs above, it
reads "between a and b" and stays out of them too. Figure and interval are one estimator. Of six runs and more it is
the median with its order-statistic interval (95 %), of two to five the median with the lowest to the highest run, of
a single run the percentile with its interval by ranks, widened by the scatter of 20 consecutive batches. None is of
pooled requests, and all cover blocks on one machine without a reboot.
"""


def method(summary: Summary) -> tuple[str, ...]:
    """Return the steps of the campaign in order."""
    runs = summary.provenance.runs
    blocks = numbers.plural(len(summary.provenance.order), "block")
    value = f"the median over {numbers.plural(runs, 'accepted run')}" if runs > 1 else "that of one run"
    added = measures_added(summary.cells)
    steps = (
        _MOCKS,
        f"The campaign planned {blocks}. {_BLOCKS}",
        _LANES,
        f"{_sizes(summary)} {prompts_text(summary)} {_WINDOWS}",
        _ACCEPTANCE,
        *((f"{ADDED_TEXT} {ADDED_BASELINE_TEXT} {_STAMPS}",) if added else ()),
        f"Percentiles are nearest rank over all requests of a run. Each value here is {value}. {SHIFT_TEXT}",
        _SAMPLE_RULE,
    )
    return tuple(" ".join(step.split()) for step in steps)


def prompts_text(summary: Summary) -> str:
    """Return which prompts the lanes of this campaign were sent, and how many of them more than once."""
    facts = summary.prompts
    order = "" if facts.drawn_by is None else f"; {_order_text(summary, facts.drawn_by)}"
    told = [f"{_PROMPTS[facts.same_in_block]}{order}."]
    shares = [share for cell in summary.cells if (share := cell.known("prompts_repeated_ratio")) is not None]
    if not shares:
        told.append("How many were sent more than once is not known.")
    elif max(shares) > 0:
        told.append(
            f"Up to {numbers.share(max(shares))} of the requests of a window repeated an earlier prompt of it."
        )
    else:
        told.append("No prompt was sent twice in a window.")
    return " ".join(told)


def _order_text(summary: Summary, catch_alls: Sequence[str]) -> str:
    """Return who drew from the prompts of a window, and who sent them one after the other."""
    sent = {cell.driver for cell in summary.cells if cell.runs_attempted}
    sent |= {cell.load.companion.driver for cell in summary.cells if cell.load.companion is not None}
    parts = []
    if catch_alls:
        parts.append(f"{_names(catch_alls)} drew from them at random, with replacement")
    if sent - set(catch_alls):
        parts.append(f"{_names(sorted(sent - set(catch_alls)))} sent them in their order")
    return ", ".join(parts) or "none was sent"


def _names(drivers: Sequence[str]) -> str:
    return numbers.listed([plain(name, limit=40) for name in drivers])


def _sizes(summary: Summary) -> str:
    sizes = [
        f"a system message of {numbers.size(payload.system_bytes)} and "
        f"a user message of {numbers.size(payload.user_bytes)}"
        + (f" ({plain(name, limit=40)})" if len(summary.payloads) > 1 else "")
        for name, payload in summary.payloads.items()
    ]
    return f"Each request carries {' or '.join(sizes)}." if sizes else "Requests carry a system and a user message."


def limits(summary: Summary) -> tuple[Fact, ...]:
    """Return what these figures do not show."""
    warning = loaded_warning(summary)
    found = [
        Fact(
            "One machine",
            f"All ran on one host in one boot ({cores_text(summary)}); other hardware gives other figures."
            + (
                f" {warning}." if warning else " Load readings at both ends of each run do not prove an idle machine."
            ),
        ),
        Fact(
            "Mock provider",
            "Answers come after a fixed time. The figures predict neither a real model's latency nor a network's.",
        ),
        Fact("Control plane", _control_plane(summary)),
        Fact("Disk", _disk_text(summary)),
        Fact(
            "Different jobs",
            "Gateways do different work on a request. The same chain name means the nearest configuration that each "
            "recipe claims, not the same features; these results do not rank products for all uses.",
        ),
    ]
    if not measures_added(summary.cells):
        found.append(Fact("Shift alone", SHIFT_ALONE_TEXT))
    if any(cell.load.concurrency > 1 for cell in summary.cells):
        found.append(
            Fact("Many clients", "With more than one client the response time is bounded by the throughput.")
        )
    found += [Fact("Known before the start", plain(one.text)) for one in summary.provenance.warnings]
    return tuple(found)


def _control_plane(summary: Summary) -> str:
    in_path, beside = (_calls_text(summary, key) for key in _CALL_KEYS)
    if not in_path and not beside:
        return f"The mock control plane responds on loopback. {_REMOTE_TEXT}"
    return (
        f"Gateways that use one made {in_path or 'no'} calls in the path of a request, and {beside or 'none'} beside "
        f"it, on loopback. {_REMOTE_TEXT}"
    )


def _calls_text(summary: Summary, key: ValueKey) -> str:
    """Return the fewest and the most calls per request of the gateways that make some; empty without one."""
    calls = [value for cell in summary.cells if (value := cell.known(key))]
    ends = dict.fromkeys(map(numbers.digits_of(summary.grade).ms, (min(calls), max(calls)))) if calls else {}
    return " to ".join(ends)


def _disk_text(summary: Summary) -> str:
    flagged = [
        f"{plain(disk.name, limit=40)} is {numbers.listed([plain(flag, limit=40) for flag in disk.flags])}"
        for disk in summary.host.disks
        if disk.flags
    ]
    start = "A gateway that waits for durable writes pays for the flushes of its disk."
    if flagged:
        start += f" {'; '.join(flagged)}: a flush there may stop short of the medium."
    return f"{start} Nothing here tests what survives a loss of power."


def meanings(summary: Summary) -> tuple[Fact, ...]:
    """Return the signs and words of the tables with their thresholds, only those that this campaign uses."""
    verdicts = {cell.verdict for cell in summary.cells}
    found = [
        Fact("– (dash)", "a figure that does not exist; its reason stands below the table"),
        Fact(
            "grey",
            "1 to 9 samples lie beyond the percentile; its rank stands below it; or it lies between two values",
        ),
    ]
    found += [
        Fact(entry.label, entry.meaning) for word, entry in VERDICTS.items() if word in verdicts and word != "valid"
    ]
    flags = {flag for cell in summary.cells for flag in cell.flags}
    found += [Fact(flag.replace("_", " "), text) for flag, text in FLAGS.items() if flag in flags]
    if not all(cell.has("shift_ms") for cell in summary.cells):
        found.append(Fact("baseline", "the lane without a gateway, measured by the same code in every block"))
    return tuple(found)
