"""Weighbridge weighs what an LLM gateway adds to every request."""

# Raised by every change of a rule in docs/method.md; a page never mixes two versions in one table.
# "-unfinished" marks records made while the rules of a version were still being put into the code.
METHOD_VERSION = "2-unfinished"


def __getattr__(name: str) -> str:
    """`__version__`, read from the installed package when it is asked for.

    Not at import: reading package metadata takes longer than all else that the guardian does at its start.
    """
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415  # for the same reason

        return version("weighbridge")
    raise AttributeError(name)
