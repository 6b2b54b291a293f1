"""The site of one or several campaigns: `index.html`, `index.md` and the charts, written whole or not at all.

It reads summaries only; it needs no tool, gateway or network.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weighbridge.errors import StoreError
from weighbridge.publish.charts import svg
from weighbridge.publish.site import templating, writer
from weighbridge.publish.site.page import page_of
from weighbridge.record.summary import Summary


def render(summaries: Summary | Sequence[Summary], out_dir: Path) -> Path:
    """Render the site into `out_dir` and return the path of its `index.html`.

    The same summaries give the same bytes. Raises StoreError when there is nothing to show, when methods of
    different versions would stand on one page, and when the site cannot be written.
    """
    chosen = [summaries] if isinstance(summaries, Summary) else list(summaries)
    if not chosen:
        raise StoreError(f"{out_dir}: there is no campaign to show")
    versions = sorted({str(summary.method_version) for summary in chosen})
    if len(versions) > 1:
        raise StoreError(
            f"{out_dir}: campaigns of method versions {', '.join(versions)} must not stand on one page; render apart"
        )
    writer.put(files(chosen), out_dir)
    return out_dir / "index.html"


def files(summaries: Sequence[Summary]) -> dict[str, bytes]:
    """Return the files of the site: path in the site to bytes."""
    page = page_of(summaries)
    made = {"index.html": templating.html(page), "index.md": templating.markdown_text(page)}
    for campaign in page.campaigns:
        made |= {chart.file: svg.as_file(str(chart.svg)) for chart in campaign.charts}
    return {name: text.encode() for name, text in made.items()}
