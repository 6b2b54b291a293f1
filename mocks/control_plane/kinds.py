"""Which call a request is: one kind a route, and whether a client's request waits for it before the provider."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class CallKind(StrEnum):
    """The calls of the contract, and `other` for what is none of them."""

    CONFIG_PULL = "config_pull"
    VALIDATE = "validate"
    RUNTIME_ROUTING = "runtime_routing"
    AGENTS = "agents"
    PREFLIGHT = "preflight"
    EVALUATE = "evaluate"
    BUDGET_CHECK = "budget_check"
    AUTHORIZE = "authorize"
    DISPATCH = "dispatch"
    COMPLETE = "complete"
    USAGE_INCREMENT = "usage_increment"
    EVENTS = "events"
    HISTORY = "history"
    HEARTBEAT = "heartbeat"
    OTHER = "other"


# What a request is admitted by: asked before the provider is. All else happens afterwards or beside it.
ADMISSION = frozenset(
    {
        CallKind.VALIDATE,
        CallKind.RUNTIME_ROUTING,
        CallKind.AGENTS,
        CallKind.PREFLIGHT,
        CallKind.EVALUATE,
        CallKind.BUDGET_CHECK,
        CallKind.AUTHORIZE,
        CallKind.DISPATCH,
    }
)

_V1 = "/v1/gateway"
_EXACT: Mapping[tuple[str, str], CallKind] = {
    ("GET", f"{_V1}/config/pull"): CallKind.CONFIG_PULL,
    ("POST", f"{_V1}/tokens/validate"): CallKind.VALIDATE,
    ("GET", f"{_V1}/settings/runtime-routing"): CallKind.RUNTIME_ROUTING,
    ("POST", f"{_V1}/access/preflight"): CallKind.PREFLIGHT,
    ("POST", f"{_V1}/usage-authorizations/evaluate"): CallKind.EVALUATE,
    ("POST", f"{_V1}/usage-authorizations"): CallKind.AUTHORIZE,
    ("POST", f"{_V1}/events"): CallKind.EVENTS,
    ("POST", f"{_V1}/history/sessions"): CallKind.HISTORY,
    ("POST", f"{_V1}/heartbeat"): CallKind.HEARTBEAT,
    ("POST", f"{_V1}/runtime-versions/heartbeat"): CallKind.HEARTBEAT,
}
# (method, what stands before the id, what stands after it)
_WITH_ID: tuple[tuple[str, str, str, CallKind], ...] = (
    ("POST", f"{_V1}/usage-authorizations/", "/dispatch", CallKind.DISPATCH),
    ("POST", f"{_V1}/usage-authorizations/", "/complete", CallKind.COMPLETE),
    ("POST", f"{_V1}/agents/", "/usage-increment", CallKind.USAGE_INCREMENT),
    ("GET", f"{_V1}/provider-budgets/", "/check", CallKind.BUDGET_CHECK),
    ("POST", f"{_V1}/history/sessions/", "/entries", CallKind.HISTORY),
    ("GET", "/v1/gateways/", "/agents", CallKind.AGENTS),
)


def kind_of(method: str, path: str) -> tuple[CallKind, str]:
    """Return the kind of a call, and the id in its path (empty where there is none)."""
    exact = _EXACT.get((method, path))
    if exact is not None:
        return exact, ""
    for wanted_method, before, after, kind in _WITH_ID:
        if method == wanted_method and path.startswith(before) and path.endswith(after):
            ident = path[len(before) : -len(after)]
            if ident and "/" not in ident:
                return kind, ident
    return CallKind.OTHER, ""
