"""The load report: one form for what oha, wrk and the probe say of a run. Contract of `invoke read --json`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field

from weighbridge.record.base import Count, Document, Milliseconds, Seconds, Versioned
from weighbridge.record.figures import Absent, Corrected

# Classes of requests that failed, each with what it is called in a sentence.
FAILURES: Mapping[str, str] = MappingProxyType(
    {
        "connect_refused": "connection refused",
        "timeout": "timeout",
        "reset": "connection reset",
        "closed_before_answer": "closed before the response",
        "body_broken": "body broken off",
        "protocol": "no proper response",
        "error_in_body": "200 with an error in the body",
        "empty": "200 without content",
        "client_files": "too many open files here",
        "client_ports": "no free port here",
        "client_memory": "no memory for a socket here",
        "client_resolve": "the name did not resolve here",
        "client_tls": "TLS set-up failed here",
        "client_route": "no route from here",
        "other": "other",
    }
)
# Limits of the client, which are never charged to a gateway (METHOD section 2), each with what helps.
CLIENT_LIMITS: Mapping[str, str] = MappingProxyType(
    {
        "client_files": "raise the limit on open files (`ulimit -n`) or ask for fewer connections",
        "client_ports": "let connections in TIME_WAIT pass, widen net.ipv4.ip_local_port_range, or take a gateway's "
        "own keep-alive into use: each request that opens a connection takes a port",
        "client_memory": "give the machine more memory for sockets, or ask for fewer connections",
        "client_resolve": "give an address in place of the name, or mend the resolver of this machine",
        "client_tls": "check the certificates that the load generator trusts",
        "client_route": "check the network and the firewall of this machine",
    }
)


class Percentiles(Document):
    """Percentiles as the tool's samples give them, ms; null where time-outs or cuts leave one undefined."""

    p50: Milliseconds | None = Field(description="50th percentile, ms.")
    p95: Milliseconds | None = Field(description="95th percentile, ms.")
    p99: Milliseconds | None = Field(description="99th percentile, ms.")
    max: Milliseconds | None = Field(description="Largest value, ms.")
    n: Count | None = Field(description="Samples behind them; null when the file does not tell.")


PercentilesOrAbsent = Annotated[Percentiles | Absent, Field(union_mode="smart")]


class LoadReport(Versioned):
    """What a load generator reported, read with its traps in mind. What was not given cannot be guessed: null."""

    schema_: Literal["weighbridge.load-report/1"] = Field(
        default="weighbridge.load-report/1", alias="schema", description="Kind and version of this document."
    )
    tool: str = Field(description="The program that drove.")
    tool_version: str | None = Field(description="Its version as given or as the samples prove; null if unknown.")
    generation: str | None = Field(default=None, description="oha's schema generation: G1 to G5, or csv.")
    corrected: Corrected = Field(description="Whether durations count from the intended start.")
    verdict: Literal["ok", "partial", "void"] = Field(description="How far the report can be used.")
    reason: str | None = Field(description="Why it is partial or void.")
    wall_s: Seconds | None = Field(description="Wall clock of the run by the tool's own account.")
    scheduled_count: Count | None = Field(description="Arrivals that were planned.")
    sent_count: Count | None = Field(description="Requests that were started.")
    answered_count: Count | None = Field(description="Requests that got an HTTP response of any status.")
    answered_by_status: dict[str, Count] | None = Field(description="Answers by HTTP status.")
    failed_count: Count | None = Field(description="Requests that ended without a response.")
    failed_by_class: dict[str, Count] | None = Field(description="Failures by class.")
    censored_count: Count | None = Field(description="Scheduled and never resolved.")
    completed_rps: float | None = Field(description="Answered ÷ wall_s.")
    success_ratio: float | None = Field(description="2xx over all that was answered or failed.")
    received_bytes: Count | None = Field(description="Body bytes as received.")
    response_ms: PercentilesOrAbsent = Field(description="The tool's durations; `corrected` says which kind.")
    first_byte_ms: PercentilesOrAbsent = Field(description="Time to the first body byte from the actual start.")
    histogram: tuple[tuple[float, Count], ...] = Field(
        default=(), description="Pairs (upper bound in seconds, count) sorted by bound."
    )
    error_text: dict[str, Count] = Field(default_factory=dict, description="Error texts as received, with counts.")
    flags: tuple[str, ...] = Field(default=(), description="Remarks: small_n, non_2xx_mixed, partial, …")
    notes: tuple[str, ...] = Field(default=(), description="Remarks in words, deadline aborts among them.")

    @property
    def success_count(self) -> int | None:
        """Answers with a 2xx; None when the report has no statuses."""
        if self.answered_by_status is None:
            return None
        return sum(count for status, count in self.answered_by_status.items() if status.startswith("2"))
