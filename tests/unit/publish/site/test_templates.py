"""Templates are dumb: they loop, branch on ready booleans, include and print. Undefined names raise."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest
from jinja2 import nodes

from tests.golden.campaigns import smoke
from weighbridge import resources
from weighbridge.publish.site import templating
from weighbridge.publish.site.page import page_of

TEMPLATES = sorted(path.name for path in resources.pages().iterdir())
ALLOWED = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Getattr, nodes.For, nodes.If, nodes.Not,
    nodes.Include,
)  # fmt: skip


def faults(source: str) -> list[str]:
    """What a template does beyond looping, branching, including and printing."""
    tree = jinja2.Environment(autoescape=True).parse(source)
    found = []
    for node in tree.find_all(nodes.Node):
        constant_include = isinstance(node, nodes.Const) and isinstance(node.value, str)
        if not isinstance(node, ALLOWED) and not constant_include:
            found.append(type(node).__name__)
        if isinstance(node, nodes.If) and not isinstance(node.test, (nodes.Getattr, nodes.Not)):
            found.append("branch on something that is no boolean of the view")
        if isinstance(node, nodes.Output):
            found += ["prints a constant" for inner in node.nodes if isinstance(inner, nodes.Const)]
    return found


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_computes_nothing(name: str) -> None:
    """No arithmetic, comparison, filter, test, call, macro or assignment in any page template."""
    assert faults((resources.pages() / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    ["{{ a + 1 }}", "{% if a.b > 1 %}x{% endif %}", "{{ a|safe }}", "{{ a.b() }}", "{% set x = a %}",
     "{{ a is none }}", "{{ a[0] }}", "{% macro m() %}{% endmacro %}", "{{ a ~ 'b' }}",
     "{% if a.b and a.c %}x{% endif %}"],
)  # fmt: skip
def test_the_check_finds_a_clever_template(source: str) -> None:
    """Each kind of cleverness that the rule forbids is found."""
    assert faults(source)


def test_an_unknown_name_raises(tmp_path: Path) -> None:
    """A template that asks for what the view does not have is an error, not an empty text."""
    (tmp_path / "index.html.j2").write_text("{{ page.titel }}")
    with pytest.raises(jinja2.UndefinedError, match="titel"):
        templating.html(page_of([smoke()]), tmp_path)


def test_markdown_escapes_whatever_is_printed(tmp_path: Path) -> None:
    """A new line in a Markdown template is safe without its writer thinking of it."""
    (tmp_path / "index.md.j2").write_text("{{ page }}")
    assert templating.markdown_text("a|b <i> *c*", tmp_path) == r"a\|b \<i\> \*c\*"  # type: ignore[arg-type]
