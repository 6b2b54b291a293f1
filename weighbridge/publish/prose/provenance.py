"""Provenance: machine, disks, gateways, tools and the campaign itself, each as a name and a text."""

from __future__ import annotations

from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import link, plain
from weighbridge.publish.views.labels import Names
from weighbridge.publish.views.views import Fact, FactList
from weighbridge.record.host import DiskFacts, GitFacts, ToolFacts
from weighbridge.record.summary import GatewaySummary, Summary


def provenance(summary: Summary, names: Names) -> tuple[FactList, ...]:
    """Return all that says what was measured, with what and where."""
    return (
        FactList("Gateways", tuple(_gateway(summary, names, gateway) for gateway in summary.gateways)),
        FactList("Tools", tuple(_tool(tool) for tool in summary.provenance.tools)),
        FactList("Machine", _machine(summary)),
        FactList("Disks", tuple(_disk(disk) for disk in summary.host.disks) or (Fact("disk", "not recorded"),)),
        FactList("Campaign", _campaign(summary)),
    )


def _gateway(summary: Summary, names: Names, gateway: GatewaySummary) -> Fact:
    recorded = {facts.id: facts for facts in summary.provenance.gateways}
    tool = recorded[gateway.id].tool if gateway.id in recorded else None
    parts = [f"id {plain(gateway.id, limit=60)}"]
    if gateway.unavailable:
        parts.append(f"unavailable: {plain(gateway.unavailable, limit=300)}")
    elif gateway.kind != "baseline":
        parts.append(f"version {plain(gateway.version or 'not told', limit=60)}")
        parts += [_digest(gateway.sha256)] if tool is None else _files(tool)
    else:
        parts.append("no gateway: the baseline that the others are compared with")
    if gateway.license:
        parts.append(f"licence {plain(gateway.license, limit=60)}")
    if gateway.id in recorded:
        parts.append(f"recipe {plain(recorded[gateway.id].recipe_sha256, limit=80)}")
    return Fact(names.full(gateway.id), " · ".join(parts), url=link(gateway.homepage))


def _tool(tool: ToolFacts) -> Fact:
    parts = [plain(tool.version or "version not told", limit=60), f"from {plain(tool.source, limit=60)}"]
    if tool.build:
        parts.append(f"built with {plain(tool.build, limit=160)}")
    parts += _files(tool)
    return Fact(plain(tool.name, limit=60), " · ".join(parts))


def _files(tool: ToolFacts) -> list[str]:
    """Say which files ran: their digest, how many it covers, what it leaves out, and from which checkout they are."""
    count = tool.file_count
    parts = [_digest(tool.sha256) + (f" of {numbers.plural(count, 'file')}" if count and count > 1 else "")]
    if tool.left_out:
        parts.append(f"without {plain(', '.join(tool.left_out), limit=200)}, which it writes itself")
    if tool.git is not None:
        parts.append(f"git commit {_commit(tool.git)}")
    return parts


def _digest(sha256: str | None) -> str:
    return f"SHA-256 {plain(sha256, limit=80)}" if sha256 else "no digest"


def _commit(git: GitFacts) -> str:
    state = {True: "with changes that are not committed", False: "clean", None: "state not told"}
    return f"{plain(git.commit or 'not told', limit=60)}, {state[git.dirty]}"


def _machine(summary: Summary) -> tuple[Fact, ...]:
    host = summary.host
    known = (
        ("class", host.machine_class),
        ("processor", host.cpu_model),
        ("logical CPUs", numbers.count(host.cpu_count)),
        ("memory", numbers.size(host.memory_bytes)),
        ("system", host.os),
        ("kernel", host.kernel),
        ("frequency governor", host.governor),
        ("virtualised", host.virtualised),
        ("Python", host.python),
    )
    reasons = {"governor": "frequency governor", "cpu_model": "processor"}
    absent = {reasons.get(key, key.replace("_", " ")): reason for key, reason in host.absent.items()}
    facts = [
        Fact(name, plain(text) if text else f"not told: {plain(absent.get(name, 'the kernel does not say'))}")
        for name, text in known
    ]
    named = {name for name, _ in known}
    facts += [
        Fact(plain(name), f"not told: {plain(why)}") for name, why in sorted(absent.items()) if name not in named
    ]
    return tuple(facts)


def _disk(disk: DiskFacts) -> Fact:
    parts = [plain(part, limit=80) for part in (disk.filesystem, disk.model, disk.bus) if part] or ["type not told"]
    parts += [plain(flag, limit=40) for flag in disk.flags]
    if disk.mount_options:
        parts.append(f"mounted {plain(', '.join(disk.mount_options), limit=200)}")
    if disk.flush_p50_ms is not None:
        tail = f", p99 {numbers.ms(disk.flush_p99_ms)} ms" if disk.flush_p99_ms is not None else ""
        by = f" ({plain(disk.flush_by, limit=60)})" if disk.flush_by else ""
        parts.append(f"a flush of 1 KiB costs p50 {numbers.ms(disk.flush_p50_ms)} ms{tail}{by}")
    else:
        parts.append("flush cost not measured")
    return Fact(plain(disk.name, limit=60), " · ".join(parts))


def _campaign(summary: Summary) -> tuple[Fact, ...]:
    record = summary.provenance
    git = "not run from a git checkout" if record.git.commit is None else _commit(record.git)
    limit = record.load_limit_per_cpu
    return (
        Fact("campaign", plain(summary.campaign, limit=120)),
        Fact("status", summary.status),
        Fact("started", plain(record.started_at, limit=40)),
        Fact(
            "Weighbridge", f"{plain(record.weighbridge_version, limit=40)}, method version {summary.method_version}"
        ),
        Fact("git commit", git),
        Fact("matrix SHA-256", plain(record.matrix_sha256, limit=80)),
        Fact("seed", str(record.seed)),
        Fact("grade", f"{summary.grade}, {numbers.plural(record.runs, 'accepted run')} of each cell wanted"),
        Fact("load limit", f"one-minute load below {numbers.short(limit)} per CPU" if limit is not None else "off"),
    )
