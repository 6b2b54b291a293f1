"""Which certificate a campaign may show: its own, else the newest of the same results folder that holds for it.

Called at the end of a campaign. Reads certificates only; whether one holds is the judge's word.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from weighbridge.errors import WeighbridgeError
from weighbridge.judge.calibration.certificate import CertificateOrigin, invalid
from weighbridge.record.campaign import CampaignRecord
from weighbridge.record.certificate import Certificate
from weighbridge.record.figures import Absent
from weighbridge.record.host import ToolFacts
from weighbridge.record.store import CampaignStore

NONE_THERE = Absent(absent="no_certificate")


def certificate_for(results: Path, store: CampaignStore) -> Certificate | Absent:
    """Return the certificate to show with a campaign, in its short form, or why there is none."""
    own = store.certificate()
    if own is not None:
        return own.short
    now = origin_of(store.record())
    reasons = []
    for found in sorted(_certificates(results), key=lambda one: one.made_at, reverse=True):
        reason = invalid(found, now)
        if reason is None:
            return found.short
        reasons.append(f"that of {found.campaign} does not hold: {reason}")
    return Absent(absent="certificate_does_not_hold", detail=reasons[0]) if reasons else NONE_THERE


def _certificates(results: Path) -> list[Certificate]:
    found = []
    for path in (results / "campaigns").glob("*/certificate.json"):
        try:
            certificate = CampaignStore(path.parent).certificate()
        except WeighbridgeError:
            continue  # a damaged or newer one is none to show
        if certificate is not None:
            found.append(certificate)
    return found


def origin_of(record: CampaignRecord, *tools: ToolFacts) -> CertificateOrigin:
    """Return what a certificate of this campaign is compared by: its tools, and others that it found later."""
    every = {tool.name: tool for tool in (*record.tools, *tools)}
    return CertificateOrigin(
        campaign=record.campaign,
        made_at=datetime.now(UTC),
        method_version=record.method_version,
        weighbridge_version=record.weighbridge_version,
        host=record.host,
        tools=tuple(every.values()),
    )
