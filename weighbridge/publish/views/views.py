"""Views: frozen dataclasses of final text. Templates print them; nothing after this module rounds, sorts or words.

Booleans are ready-made for the templates' branches; a text that does not exist is empty and its boolean false.
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from weighbridge.publish.text.sanitise import Code

_LEFT_RULE = Code("---")
_WIDE = 12


@dataclass(frozen=True)
class TableCell:
    """One cell of a table: text, how it is set, and what stands beside it."""

    text: str
    label: str = ""  # heading of its column, repeated where a narrow screen shows rows as cards
    small: str = ""  # a second, smaller line
    title: str = ""  # the whole reason, shown on hover
    mark: str = ""  # footnote letters
    css: str = ""
    span: int = 1
    fill: tuple[str, ...] = ()  # what Markdown, which has no spans, prints in the columns that are spanned
    is_head: bool = False

    @property
    def has_small(self) -> bool:
        """Whether a second line exists."""
        return bool(self.small)

    @property
    def has_title(self) -> bool:
        """Whether there is a reason to show on hover."""
        return bool(self.title)

    @property
    def has_mark(self) -> bool:
        """Whether a footnote belongs to it."""
        return bool(self.mark)

    @property
    def is_grey(self) -> bool:
        """Whether Markdown sets it apart, having no grey."""
        return "grey" in self.css


@dataclass(frozen=True)
class TableRow:
    """One row."""

    cells: tuple[TableCell, ...]
    css: str = ""


@dataclass(frozen=True)
class Section:
    """Rows under one heading, such as a chain and a mode."""

    title: str
    rows: tuple[TableRow, ...]

    @property
    def has_title(self) -> bool:
        """Whether the rows carry a heading."""
        return bool(self.title)


@dataclass(frozen=True)
class TableColumn:
    """A column: short heading, whole heading (where no group stands above it), and how it is set."""

    text: str
    full: str
    css: str = ""
    is_number: bool = False
    rule: Code = _LEFT_RULE  # Markdown's alignment row


@dataclass(frozen=True)
class TableGroup:
    """A heading over several columns."""

    text: str
    span: int
    css: str = ""


@dataclass(frozen=True)
class Footnote:
    """A remark with its mark."""

    mark: str
    text: str


@dataclass(frozen=True)
class Table:
    """A table with its heading, remarks and rows, ready to print."""

    id: str
    title: str
    caption: tuple[str, ...]
    columns: tuple[TableColumn, ...]
    sections: tuple[Section, ...]
    groups: tuple[TableGroup, ...] = ()
    footnotes: tuple[Footnote, ...] = ()
    warning: str = ""
    empty: str = ""
    is_folded: bool = False
    css: str = ""

    @property
    def has_rows(self) -> bool:
        """Whether there is anything to show."""
        return any(section.rows for section in self.sections)

    @property
    def has_groups(self) -> bool:
        """Whether headings stand over several columns."""
        return bool(self.groups)

    @property
    def has_warning(self) -> bool:
        """Whether other processes were using the CPU."""
        return bool(self.warning)

    @property
    def has_footnotes(self) -> bool:
        """Whether remarks follow."""
        return bool(self.footnotes)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def classes(self) -> str:
        """How it is set: tables of many columns are set smaller."""
        return f"{self.css} wide".strip() if self.width > _WIDE else self.css


@dataclass(frozen=True)
class Chart:
    """A chart: the picture, its file for Markdown, and its description for those who do not see it."""

    id: str
    title: str
    description: str
    file: Code
    svg: Markup
    warning: str = ""

    @property
    def has_warning(self) -> bool:
        """Whether other processes were using the CPU."""
        return bool(self.warning)


@dataclass(frozen=True)
class Fact:
    """A line of provenance: what it is, what it says, and where it leads."""

    name: str
    text: str
    url: str = ""

    @property
    def url_code(self) -> Code:
        """The address as Markdown takes it between brackets; `clean.link` let no bracket through."""
        return Code(self.url)

    @property
    def has_url(self) -> bool:
        """Whether it leads somewhere."""
        return bool(self.url)


@dataclass(frozen=True)
class FactList:
    """Facts under a heading."""

    title: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class CertificateSection:
    """What is known of the accuracy: sentences, facts and tables of its certificate.

    It `leads` on the page of the calibration that made it.
    """

    lines: tuple[str, ...]
    facts: tuple[Fact, ...]
    tables: tuple[Table, ...]
    leads: bool = False

    @property
    def has_facts(self) -> bool:
        """Whether there is a certificate to show."""
        return bool(self.facts)


@dataclass(frozen=True)
class CampaignPage:
    """A campaign as a page shows it, from the abstract to the command that repeats it."""

    anchor: str
    title: str
    lead: str
    grade: str
    grade_note: str
    claims: bool
    warnings: tuple[str, ...]
    answer: tuple[str, ...]
    headline_text: str
    shift_text: str
    charts: tuple[Chart, ...]
    tables: tuple[Table, ...]
    run_tables: tuple[Table, ...]
    certificate: CertificateSection
    outcome_text: str
    meanings: tuple[Fact, ...]
    method: tuple[str, ...]
    limits: tuple[Fact, ...]
    provenance: tuple[FactList, ...]
    commands: tuple[Code, ...]
    repeat_text: str

    @property
    def has_charts(self) -> bool:
        """Whether there is a chart to show."""
        return bool(self.charts)

    @property
    def has_warnings(self) -> bool:
        """Whether something must be read before the figures."""
        return bool(self.warnings)


@dataclass(frozen=True)
class Page:
    """The whole page."""

    title: str
    description: str
    campaigns: tuple[CampaignPage, ...]
    is_many: bool
    made_by: str
