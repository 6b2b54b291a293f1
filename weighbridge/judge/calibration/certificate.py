"""The certificate as a whole: what passes, what is provisional, and for whom and how long it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from weighbridge.judge.calibration.known_delays import is_thin
from weighbridge.record.base import MethodVersion
from weighbridge.record.certificate import (
    NO_CEILING,
    CeilingOrUnknown,
    Certificate,
    CpuResult,
    DelayResult,
    DriverBaseline,
    FaultResult,
    JitterResult,
    Resolution,
    StampingResult,
)
from weighbridge.record.host import HostFacts, ToolFacts

HOLDS_FOR = timedelta(days=7)


@dataclass(frozen=True)
class CertificateOrigin:
    """Who made a certificate, on what, with what; a page's campaign is compared by it."""

    campaign: str
    made_at: datetime
    method_version: MethodVersion
    weighbridge_version: str
    host: HostFacts
    tools: tuple[ToolFacts, ...]


@dataclass(frozen=True)
class Findings:
    """Everything that a calibration campaign found; `gaps` are sentences on what was asked for and not measured."""

    known_delays: Sequence[DelayResult]
    faults: Sequence[FaultResult]
    baselines: Sequence[DriverBaseline]
    jitter: Sequence[JitterResult] = ()
    resolution: Sequence[Resolution] = ()
    stamping: StampingResult | None = None
    cpu: CpuResult | None = None
    mock_ceiling_rps: CeilingOrUnknown = NO_CEILING
    gaps: Sequence[str] = ()


def certify(origin: CertificateOrigin, findings: Findings, *, is_quick: bool) -> Certificate:
    """Return the certificate. It passes when nothing failed and something was measured and injected.

    Provisional: made by `--quick`, or with fewer than 3 blocks, 500 requests a block or 1,000 control samples.
    """
    problems = tuple(_problems(findings))
    return Certificate(
        campaign=origin.campaign,
        made_at=origin.made_at.isoformat(),
        method_version=origin.method_version,
        weighbridge_version=origin.weighbridge_version,
        host=origin.host,
        tools=origin.tools,
        passed=not problems,
        provisional=is_quick or any(_is_thin(one) for one in findings.known_delays),
        problems=problems,
        known_delays=tuple(findings.known_delays),
        jitter=tuple(findings.jitter),
        resolution=tuple(findings.resolution),
        faults=tuple(findings.faults),
        baselines=tuple(findings.baselines),
        stamping=findings.stamping,
        cpu=findings.cpu,
        mock_ceiling_rps=findings.mock_ceiling_rps,
    )


def invalid(certificate: Certificate, now: CertificateOrigin) -> str | None:
    """Return why a certificate does not hold for another campaign; None when it does.

    It holds on the same host and kernel, with the same method and tool versions, for seven days, if it passed.
    Tools that only one of the two used do not matter.
    """
    if not certificate.passed:
        return "the calibration failed"
    age = now.made_at - datetime.fromisoformat(certificate.made_at)
    if not timedelta(0) <= age <= HOLDS_FOR:
        return "it is older than seven days" if age > HOLDS_FOR else "it was made after this campaign"
    if certificate.method_version != now.method_version:
        return f"it follows version {certificate.method_version} of the method, not {now.method_version}"
    if certificate.weighbridge_version != now.weighbridge_version:
        return f"it was made by Weighbridge {certificate.weighbridge_version}, not {now.weighbridge_version}"
    if certificate.host.kernel != now.host.kernel:
        return "the kernel is another one"
    if _fingerprint(certificate.host) != _fingerprint(now.host):
        return "the host is another one"
    ours = {tool.name: _version(tool) for tool in certificate.tools}
    changed = [tool.name for tool in now.tools if tool.name in ours and ours[tool.name] != _version(tool)]
    return f"{', '.join(changed)} changed since" if changed else None


def _fingerprint(host: HostFacts) -> dict[str, Any]:
    # Not the disks: a matrix names them, and a calibration writes to none.
    same = {"machine_class", "os", "cpu_model", "cpu_count", "memory_bytes", "governor", "virtualised", "python"}
    return host.model_dump(include=same)


def _version(tool: ToolFacts) -> tuple[str | None, str | None]:
    return tool.version, tool.sha256


def _problems(findings: Findings) -> Iterator[str]:
    if not findings.known_delays:
        yield "no known delay was measured"
    if not findings.faults:
        yield "no fault was injected"
    yield from findings.gaps
    for one in findings.known_delays:
        if one.judged and not one.passed:
            yield (
                f"{one.delay} ({one.mode}, {one.arrangement}, {one.condition}): added {one.figure} is off by "
                f"{one.added_error_ms:+.3f} ms, the limit is {one.limit_ms:.3f} ms"
            )
    for pair in findings.resolution:
        if not pair.passed:
            yield (
                f"A/A pair ({pair.mode}, {pair.arrangement}): {pair.figure} differs by "
                f"{pair.median_difference_ms:+.3f} ms, the limit is {pair.limit_ms:.3f} ms"
            )
    for jitter in findings.jitter:
        if jitter.judged and not jitter.passed:
            yield (
                f"under jitter ({jitter.mode}, {jitter.figure}) the shift's error is "
                f"{jitter.shift_mean_error_ms:.3f} ms, not ten times the added time's "
                f"{jitter.added_mean_error_ms:.3f} ms"
            )
    for fault in findings.faults:
        if not fault.detected:
            yield f"the injected fault {fault.fault} was not detected"
    if findings.cpu is not None and not findings.cpu.passed:
        yield f"a CPU burn of {findings.cpu.known_ms:.3f} ms was read as {findings.cpu.measured_ms:.3f} ms"


def _is_thin(one: DelayResult) -> bool:
    return is_thin(len(one.blocks), one.sample_count, one.control_count)
