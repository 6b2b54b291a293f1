"""Documents that carry a code of a closed table, validated when they are made and when they are read."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, ConfigDict, Field, field_validator, model_validator

from weighbridge.record.base import Document
from weighbridge.record.codes import FLAGS, REASONS, WARNINGS, ReasonClass, Verdict


class Reason(Document):
    """Why a run or a cell is not valid: a closed code, whose doing it was, and a free detail."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", populate_by_name=True)

    code: str = Field(description="Code of the reason.")
    class_: ReasonClass = Field(
        validation_alias="class", serialization_alias="class", description="Whose doing it was: rig or gateway."
    )
    detail: str = Field(default="", description="What happened, for people.")

    @classmethod
    def of(cls, code: str, detail: str = "") -> Self:
        """Return the reason of this code; KeyError for a code that does not exist."""
        return cls(code=code, class_=REASONS[code].class_, detail=detail)

    @property
    def verdict(self) -> Verdict:
        """Verdict that a rejected run with this reason speaks for."""
        return REASONS[self.code].verdict

    @property
    def text(self) -> str:
        """Short text of the code."""
        return REASONS[self.code].text

    @model_validator(mode="after")
    def _closed(self) -> Self:
        if self.code not in REASONS:
            raise ValueError(f"{self.code!r} is no reason code")
        if REASONS[self.code].class_ != self.class_:
            raise ValueError(f"the reason {self.code} is of class {REASONS[self.code].class_}, not {self.class_}")
        return self


class CampaignWarning(Document):
    """What weakens the figures of a campaign, known before the start: a closed code and a free detail."""

    code: str = Field(description="Code of the warning.")
    detail: str = Field(default="", description="The warning, for people.")

    @field_validator("code")
    @classmethod
    def _closed(cls, code: str) -> str:
        if code not in WARNINGS:
            raise ValueError(f"{code!r} is no warning code")
        return code

    @property
    def leads(self) -> bool:
        """Whether it stands at the head of a page."""
        return WARNINGS[self.code].leads

    @property
    def text(self) -> str:
        """Detail, or what the code means."""
        return self.detail or WARNINGS[self.code].text


def _flag(code: str) -> str:
    if code not in FLAGS:
        raise ValueError(f"{code!r} is no flag")
    return code


FlagCode = Annotated[str, AfterValidator(_flag)]
