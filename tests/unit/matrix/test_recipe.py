"""Recipes: what a good folder gives, and the sentence for each fault of a bad one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.examples.matrix_samples import DATA, ROOT, catalogue
from weighbridge.errors import InputError
from weighbridge.matrix.artifacts import MocksArtifact, PathArtifact, PythonArtifact
from weighbridge.matrix.catalogue import read_catalogue, read_recipe
from weighbridge.matrix.recipe import Recipe
from weighbridge.matrix.yamltext import read_yaml

GOOD = DATA / "recipes" / "good"

PYTHON = """\
schema: weighbridge.gateway/1
name: Gamma
kind: product
label: null
homepage: https://example.org/gamma
license: MIT
artifact:
  kind: python
  requirements: lock.txt
  python: "3.11"
  package: Gamma.Proxy
  version: 1.108.7
  refused_versions: [1.82.7, 1.82.8]
  program: gamma
  version_argv: ["{program}", --version]
config: [{template: gamma.yaml.j2, target: sub/gamma.yaml}]
start: {argv: ["{program}", --port, "{port}"], env: {GAMMA_LOG: ERROR}}
ready: {path: /health, status: 200, within: 180s}
serves: {path: /v1/chat/completions, modes: [plain, stream], headers: {authorization: "Bearer {client_key}"}}
chains: {none: {}, starter: {rules: [a, b]}}
settings: {workers: {default: "1", values: ["1", "2"]}}
overhead_header: {name: x-gamma-ms, unit: ms}
needs: {control_plane: true}
"""
LOCK = "aiohttp==3.1 \\\n    --hash=sha256:00\ngamma-proxy[server]==1.108.7 \\\n    --hash=sha256:11\n"
TEMPLATE = "port: {{ port }}\nworkers: {{ setting_workers }}\nrules: {{ policies.rules | default([]) | tojson }}\n"


def _gamma(folder: Path, *changes: tuple[str, str], lock: str = LOCK, template: str = TEMPLATE) -> Path:
    """Folder of a Python gateway with texts of its recipe replaced."""
    text = PYTHON
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    made = folder / "gamma"
    made.mkdir()
    (made / "gateway.yaml").write_text(text)
    (made / "lock.txt").write_text(lock)
    (made / "gamma.yaml.j2").write_text(template)
    return made


def _refusal(folder: Path) -> str:
    with pytest.raises(InputError) as detected:
        read_recipe(folder)
    assert "\n" not in str(detected.value)
    return str(detected.value).replace(f"{folder}/", "")


def test_a_catalogue_knows_its_recipes_by_folder_name() -> None:
    """Ids are folder names; an unknown id is None."""
    read = catalogue()

    assert read.ids == ("alpha", "beta", "direct")
    assert read.get("nobody") is None
    recipe = read.get("beta")
    assert recipe is not None
    assert (recipe.id, recipe.folder) == ("beta", GOOD / "beta")


def test_a_recipe_is_in_seconds_and_typed_by_its_artifact(tmp_path: Path) -> None:
    """Units are resolved, artifacts are of their own form, short forms are filled with defaults."""
    read = catalogue()
    alpha, beta, gamma = read.get("alpha"), read.get("beta"), read_recipe(_gamma(tmp_path))

    assert alpha is not None
    assert beta is not None
    assert alpha.artifact == PathArtifact(
        kind="path", program="alpha-gateway", version_argv=("{program}", "--version")
    )
    assert isinstance(beta.artifact, MocksArtifact)
    assert isinstance(gamma.artifact, PythonArtifact)
    assert beta.drain is not None
    assert (beta.drain.within_s, beta.stop.grace_s, beta.stop.signal) == (60.0, 3.0, "INT")
    assert (alpha.stop.signal, alpha.needs.control_plane, beta.needs.control_plane) == ("TERM", False, True)
    assert gamma.ready is not None
    assert (gamma.ready.within_s, gamma.ready.hold_s) == (180.0, 2.0)


def test_numbers_in_environment_and_arguments_are_text() -> None:
    """A 0 in the environment reaches the process as text."""
    recipe = catalogue().get("alpha")

    assert recipe is not None
    assert recipe.start is not None
    assert recipe.start.env["ALPHA_DEBUG"] == "0"


def test_settings_have_defaults() -> None:
    """What a matrix does not set keeps the recipe's default."""
    recipe = catalogue().get("beta")

    assert recipe is not None
    assert recipe.settings_with({"workers": "2"}) == {"workers": "2", "log": "off"}


def test_the_digest_changes_with_every_byte_and_name(tmp_path: Path) -> None:
    """An edited template, a new file and a renamed one each give another digest; a copy gives the same."""
    original = read_recipe(GOOD / "alpha").digest
    copy = tmp_path / "alpha"
    shutil.copytree(GOOD / "alpha", copy)
    seen = {original}

    assert read_recipe(copy).digest == original
    (copy / "__pycache__").mkdir()
    (copy / "__pycache__" / "x.pyc").write_bytes(b"1")
    (copy / ".hidden").write_bytes(b"1")
    assert read_recipe(copy).digest == original
    for name, text in (("NOTES.md", "a"), ("NOTES.md", "b"), ("sub/NOTES.md", "b")):
        (copy / name).parent.mkdir(exist_ok=True)
        (copy / name).write_text(text)
        seen.add(read_recipe(copy).digest)
    (copy / "NOTES.md").rename(copy / "NOTED.md")
    seen.add(read_recipe(copy).digest)
    assert len(seen) == 5


def test_the_files_of_a_recipe_are_those_that_were_digested() -> None:
    """The bytes that were checked are kept, so that what is stored is what was used."""
    recipe = catalogue().get("alpha")

    assert recipe is not None
    assert sorted(recipe.files) == ["alpha.json.j2", "gateway.yaml"]
    assert recipe.files["gateway.yaml"] == (GOOD / "alpha" / "gateway.yaml").read_bytes()


def test_a_recipe_cannot_be_changed_or_made_without_a_folder() -> None:
    """Recipes are frozen and come from the catalogue alone."""
    recipe = catalogue().get("beta")

    assert recipe is not None
    with pytest.raises(ValidationError):
        recipe.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"matrix\.catalogue"):
        Recipe.model_validate_json(json.dumps(read_yaml(Path("x"), recipe.files["gateway.yaml"]).data))


def test_a_later_folder_does_not_replace_a_gateway(tmp_path: Path) -> None:
    """Two folders with one id are refused, naming both; the same folder given twice is no conflict."""
    shutil.copytree(GOOD / "beta", tmp_path / "beta")

    with pytest.raises(InputError) as detected:
        read_catalogue([GOOD, tmp_path])
    assert str(GOOD / "beta") in str(detected.value)
    assert str(tmp_path / "beta" / "gateway.yaml") in str(detected.value)
    assert read_catalogue([GOOD, GOOD]).ids == ("alpha", "beta", "direct")


def test_a_folder_of_one_gateway_is_a_recipe_folder_too() -> None:
    """`--recipes` may name the folder of a gateway itself."""
    assert read_catalogue([GOOD / "beta"]).ids == ("beta",)


def test_a_missing_recipe_folder_is_refused(tmp_path: Path) -> None:
    """A folder that is not there is bad input."""
    with pytest.raises(InputError, match="nowhere: is not a directory; expected a folder of gateway recipes"):
        read_catalogue([tmp_path / "nowhere"])


def test_a_folder_name_that_cannot_be_an_id_is_refused(tmp_path: Path) -> None:
    """Capitals and dots would not survive in cell ids."""
    shutil.copytree(GOOD / "beta", tmp_path / "Beta.2")

    with pytest.raises(InputError, match=r"'Beta\.2' cannot be the id of a gateway"):
        read_catalogue([tmp_path])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("kind: product", "kind: produkt"),
            "gateway.yaml:3:7: kind: 'produkt' is not known; expected baseline, mock",
        ),
        (("  kind: python", "  kind: pyton"), "gateway.yaml:8:9: artifact.kind: 'pyton' is not known"),
        (("  kind: python\n", ""), "gateway.yaml:8:3: artifact: has no kind; expected a mapping with its kind"),
        (("  package:", "  pakage:"), "gateway.yaml:11:3: artifact.pakage: is no known key; expected kind, "),
        (("  program: gamma\n", ""), "gateway.yaml:8:3: artifact.program: is missing; expected: console"),
        (('"3.11"', "3.11"), "gateway.yaml:10:11: artifact.python: 3.11 is no text; expected a "),
        (("version: 1.108.7", "version: 1.82.7"), "gateway.yaml:12:12: artifact.version: 1.82.7 is one of "),
        (("version: 1.108.7", "version: 1.108.8"), "gateway.yaml:12:12: artifact.version: 1.108.8 is not the"),
        (("lock.txt", "locked.txt"), "gateway.yaml:9:17: artifact.requirements: locked.txt does not exist"),
        (("lock.txt", "../lock.txt"), "gateway.yaml:9:17: artifact.requirements: '../lock.txt' cannot be used here"),
        (("gamma.yaml.j2", "gama.yaml.j2"), "gateway.yaml:16:21: config[0].template: gama.yaml.j2 does not exist"),
        (("target: sub/gamma.yaml}", "target: a}, {template: gamma.yaml.j2, target: a}"), "gateway.yaml:16:44: "),
        (("{port}", "{prt}"), "gateway.yaml:17:37: start.argv[2]: {prt} is no known name; expected one of port, "),
        (("{port}", "{port!r}"), "gateway.yaml:17:37: start.argv[2]: {port} is more than a bare name"),
        (("{port}", "{port:5}"), "start.argv[2]: {port} is more than a bare name"),
        (("{port}", "{port.real}"), "start.argv[2]: {port.real} is more than a bare name"),
        (("{port}", "{}"), "start.argv[2]: {} is more than a bare name"),
        (("{port}", "{port"), "start.argv[2]: holds a single { or }"),
        (("GAMMA_LOG: ERROR", 'GAMMA_LOG: "{clientkey}"'), "start.env.GAMMA_LOG: {clientkey} is no known name"),
        (("GAMMA_LOG", "GAMMA-LOG"), "start.env.GAMMA-LOG: 'GAMMA-LOG' cannot be used here"),
        (("Bearer {client_key}", "Bearer {key}"), "serves.headers.authorization: {key} is no known name"),
        (("authorization:", "Authorization:"), "serves.headers.Authorization: 'Authorization' cannot be used here; "),
        (("path: /health", "path: health"), "ready.path: 'health' cannot be used here"),
        (("within: 180s", "within: 180"), "ready.within: '180' has no unit"),
        (("within: 180s", "within: 180s, hold: 5ms"), "ready.hold: '5ms' is out of range"),
        (("status: 200", "status: 20"), "ready.status: 20 is out of range; expected a whole number from 100 to 599"),
        (("start: {", "stat: {"), "gateway.yaml:17:1: stat: is no known key; "),
        (("[plain, stream]", "[plain, stream, batch]"), "serves.modes[2]: 'batch' is not known"),
        (("[plain, stream]", "[]"), "serves.modes: is empty; expected at least one entry"),
        (("{none: {}, starter", "{None: {}, starter"), "chains.None: 'None' cannot be used here"),
        (('default: "1"', 'default: "3"'), "settings.workers.default: '3' is not among its values"),
        (('default: "1"', "default: 1.0"), "settings.workers.default: 1.0 is a number"),
        (("unit: ms", "unit: msec"), "overhead_header.unit: 'msec' is not known"),
        (("control_plane: true", "control_plane: yes"), "needs.control_plane: is 'yes'; expected true or false"),
        (("name: Gamma", 'name: "a\\nb"'), "name: 'a\\nb' is no title"),
        (("gateway/1", "gateway/2"), "gateway.yaml:1:9: schema: weighbridge.gateway/2 is of a later Weighbridge"),
        (("kind: product", "kind: baseline"), "gateway.yaml:3:7: kind: is baseline in the folder gamma"),
        (("kind: product", "kind: mock"), "label: is missing for a mock"),
        (("gateway/1\n", "gateway/1\nstop: {signal: KILL}\n"), "stop.signal: 'KILL' is not known"),
        (("gateway/1\n", "gateway/1\nwrites: [/tmp/x]\n"), "gateway.yaml:2:10: writes[0]: '/tmp/x' cannot be used"),
        (("gateway/1\n", "gateway/1\nwrites: [env/../x]\n"), "writes[0]: 'env/../x' cannot be used here; expected a"),
        (("gateway/1\n", 'gateway/1\nwrites: ["**/*.*"]\n'), "writes[0]: '**/*.*' names no file or folder"),
        (("gateway/1\n", "gateway/1\nwrites: [1]\n"), "writes[0]: 1 is no text; expected a relative path"),
    ],
)  # fmt: skip
def test_each_fault_of_a_recipe_is_named_where_it_stands(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    """File, line, column, key, fault and what was expected, on one line."""
    sentence = _refusal(_gamma(tmp_path, change))

    assert message in sentence
    assert sentence.startswith("gateway.yaml:")


def test_a_near_name_is_suggested(tmp_path: Path) -> None:
    """A misspelt placeholder is answered with the right one, settings included."""
    assert _refusal(_gamma(tmp_path, ("{port}", "{prt}"))).endswith("Did you mean {port}?")
    shutil.rmtree(tmp_path / "gamma")
    assert _refusal(_gamma(tmp_path, ("{port}", "{setting_worker}"))).endswith("Did you mean {setting_workers}?")


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("a\nport: {{ prot }}\n", "gamma.yaml.j2:2: prot is no known name; expected one of port, "),
        ("{{ port", "gamma.yaml.j2:1: is no template: unexpected end of template"),
        ("a\nb\n{% if %}\n", "gamma.yaml.j2:3: is no template: Expected an expression"),
        ("{{ port | nofilter }}", "gamma.yaml.j2:1: is no template: No filter named 'nofilter'"),
        ("a\n{{ policies.rulez }}\n", "gamma.yaml.j2:2: cannot be rendered for chain none: 'dict object' has no"),
        ("{% include 'other.j2' %}", "gamma.yaml.j2:1: cannot be rendered for chain none: other.j2 is not in"),
        ("a\n{{ policies.rules[0] + 1 }}\n", "gamma.yaml.j2:2: cannot be rendered for chain none: "),
        ("a\n{{ 1 / 0 }}\n", "gamma.yaml.j2:2: cannot be rendered for chain none: division by zero"),
    ],
)  # fmt: skip
def test_faults_of_a_template_are_named_by_its_own_line(tmp_path: Path, template: str, message: str) -> None:
    """Unknown names, bad syntax and missing policies are found when the recipe is read, for every chain."""
    assert _refusal(_gamma(tmp_path, template=template)).startswith(message)


def test_a_program_has_no_name_where_there_is_none(tmp_path: Path) -> None:
    """A mock of ours has no installed program to speak of."""
    shutil.copytree(GOOD / "beta", tmp_path / "beta")
    file = tmp_path / "beta" / "gateway.yaml"
    file.write_text(file.read_text().replace('"{python}"', '"{program}"'))

    assert "start.argv[0]: {program} is no known name" in _refusal(tmp_path / "beta")


def test_a_lock_without_hashes_is_refused(tmp_path: Path) -> None:
    """Every package of a lock file is pinned by hash."""
    lock = "aiohttp==3.1\ngamma-proxy==1.108.7 \\\n    --hash=sha256:11\n"

    assert "artifact.requirements: lock.txt has packages without a hash" in _refusal(_gamma(tmp_path, lock=lock))


@pytest.mark.parametrize(
    ("add", "message"),
    [
        ("start: {argv: [x]}", "start: is given for the lane without a gateway"),
        ("ready: {path: /, within: 1s}", "ready: is given for the lane without a gateway"),
        ("writes: [cache/*]", "writes: is given for an artifact of kind none; expected no such key"),
    ],
)
def test_the_baseline_starts_nothing(tmp_path: Path, add: str, message: str) -> None:
    """The lane without a gateway has nothing to start or to wait for."""
    shutil.copytree(GOOD / "direct", tmp_path / "direct")
    with (tmp_path / "direct" / "gateway.yaml").open("a") as file:
        file.write(add + "\n")

    assert message in _refusal(tmp_path / "direct")


@pytest.mark.parametrize("text", ["", "- a\n", "words\n"])
def test_a_recipe_without_keys_is_refused(tmp_path: Path, text: str) -> None:
    """An empty recipe and a list are no recipes."""
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "gateway.yaml").write_text(text)

    assert "expected" in _refusal(folder)


def test_the_shipped_recipes_are_sound() -> None:
    """Every folder under templates/gateways is a recipe that holds together, the baseline among them."""
    assert "direct" in read_catalogue([ROOT / "templates" / "gateways"]).ids
