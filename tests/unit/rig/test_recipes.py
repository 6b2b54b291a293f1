"""The recipes that come with Weighbridge: pinned, without a secret in a file, and understood by what they start."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from mocks.gateway.config import read_config
from mocks.gateway.policies.chain import CATALOGUE
from weighbridge import resources
from weighbridge.matrix.artifacts import ARTIFACTS, PythonArtifact
from weighbridge.matrix.binding import Binding, fill, render_configs
from weighbridge.matrix.catalogue import read_catalogue
from weighbridge.matrix.recipe import Recipe, Start
from weighbridge.rig.install.gateway import INSTALLERS

SECRETS = ("CLIENT-KEY", "PROVIDER-KEY", "MACHINE-TOKEN")


def recipe_of(name: str) -> Recipe:
    """A recipe of ours."""
    recipe = read_catalogue([resources.gateways()]).get(name)
    assert recipe is not None
    return recipe


def binding(recipe: Recipe, chain: str, folder: Path, **settings: str) -> Binding:
    """A lane of it with keys that can be looked for."""
    return Binding(
        port=4321,
        admin_port=4322,
        upstream_url="http://127.0.0.1:4323",
        control_plane_url="http://127.0.0.1:4324",
        state_dir=folder / "state",
        config_dir=folder / "config",
        log_dir=folder / "log",
        client_key=SECRETS[0],
        provider_key=SECRETS[1],
        machine_token=SECRETS[2],
        model="mock-model",
        chain=chain,
        program=folder / "program" if recipe.artifact.has_program else None,
        python=folder / "python",
        mocks_root=folder,
        settings=recipe.settings_with(settings),
    )


def start_of(recipe: Recipe) -> Start:
    """How it is started."""
    assert recipe.start is not None
    return recipe.start


def litellm_config(chain: str, folder: Path) -> tuple[bytes, dict[str, Any]]:
    """What LiteLLM is given for a chain: bytes, and the document that it reads from them."""
    recipe = recipe_of("litellm")
    text = render_configs(recipe, binding(recipe, chain, folder))["config.yaml"]
    return text, yaml.safe_load(text)


def test_direct_is_the_baseline_and_starts_nothing() -> None:
    """No program, no chain but `none`, both modes."""
    direct = recipe_of("direct")
    assert (direct.kind, direct.start, set(direct.chains)) == ("baseline", None, {"none"})
    assert set(direct.serves.modes) == {"plain", "stream"}


def test_the_reference_is_labelled_wherever_it_appears() -> None:
    """It is a mock and says so."""
    assert (recipe_of("reference").kind, recipe_of("reference").label) == ("mock", "mock, not a product")


SETTINGS = list(itertools.product(("none", "starter", "finance"), ("on", "off"), ("on", "off")))


@pytest.mark.parametrize(("chain", "control_plane", "audit"), SETTINGS)
def test_the_reference_gateway_understands_its_configuration(
    tmp_path: Path, chain: str, control_plane: str, audit: str
) -> None:
    """Every chain with every setting is read by the program itself, and each policy exists there."""
    recipe = recipe_of("reference")
    bound = binding(recipe, chain, tmp_path, control_plane=control_plane, audit=audit)
    file = tmp_path / "gateway.json"
    file.write_bytes(render_configs(recipe, bound)["gateway.json"])
    config = read_config(file)
    assert set(config.policies) <= set(CATALOGUE)
    assert (len(config.policies) > 0) == (chain != "none")
    assert (config.control_plane_url is None, config.client_keys) == (
        (False, None) if control_plane == "on" else (True, (SECRETS[0],))
    )
    assert (config.audit, config.port, config.state_dir) == (audit == "on", 4321, tmp_path / "state")


def test_the_longer_chain_holds_the_shorter_one() -> None:
    """The finance chain is the starter chain and more, so that their difference is what was added."""
    chains = recipe_of("reference").chains
    assert set(chains["starter"]["policies"]) < set(chains["finance"]["policies"])


def test_every_package_of_litellm_has_its_checksum() -> None:
    """The list pins each package once with at least one SHA-256, and the recipe's version is the locked one."""
    recipe = recipe_of("litellm")
    assert isinstance(recipe.artifact, PythonArtifact)
    text = recipe.files[recipe.artifact.requirements].decode()
    packages = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(packages) > 100
    for package in packages:
        assert re.match(r"[a-z0-9-]+(\[[a-z,]+\])?==\S+ ", package)
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", package)
    assert f"\nlitellm=={recipe.artifact.version} " in text
    assert recipe.artifact.refused_versions == ("1.82.7", "1.82.8")


def test_the_list_of_litellm_names_no_host_and_no_place() -> None:
    """No address, no index option and no path of the machine that made it."""
    text = recipe_of("litellm").files["requirements-py311.lock"].decode()
    assert not re.search(r"://|--(extra-)?index-url [^-]|--find-links|--trusted-host|[\s=\"'](/|~)[a-z]", text)


@pytest.mark.parametrize("chain", ["none", "starter"])
def test_no_file_of_litellm_holds_a_secret(tmp_path: Path, chain: str) -> None:
    """Keys go to its environment; files and arguments, which are kept and listed, have none."""
    recipe = recipe_of("litellm")
    bound = binding(recipe, chain, tmp_path)
    text, document = litellm_config(chain, tmp_path)
    argv = " ".join(fill(word, bound) for word in start_of(recipe).argv)
    assert not any(secret in text.decode() + argv for secret in SECRETS)
    env = {name: fill(value, bound) for name, value in start_of(recipe).env.items()}
    master = document["general_settings"]["master_key"].removeprefix("os.environ/")
    upstream = document["model_list"][0]["litellm_params"]["api_key"].removeprefix("os.environ/")
    assert f"Bearer {env[master]}" == fill(recipe.serves.headers["authorization"], bound)
    assert env[upstream] == SECRETS[1]


def test_litellm_asks_nobody_but_the_provider(tmp_path: Path) -> None:
    """It binds to this machine, fetches no list, reads no `.env`, and does not retry in silence."""
    recipe = recipe_of("litellm")
    start = start_of(recipe)
    assert start.argv[start.argv.index("--host") + 1] == "127.0.0.1"
    assert start.env["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
    assert start.env["LITELLM_MODE"] == "PRODUCTION"
    _, document = litellm_config("none", tmp_path)
    assert document["litellm_settings"] == {"telemetry": False, "num_retries": 0}
    assert document["model_list"][0]["litellm_params"]["api_base"] == "http://127.0.0.1:4323/v1"


def test_litellm_claims_the_chains_it_can_do(tmp_path: Path) -> None:
    """No filter in `none`; injection before the call and PII on both sides in `starter`; `finance` is not claimed."""
    assert set(recipe_of("litellm").chains) == {"none", "starter"}
    assert "guardrails" not in litellm_config("none", tmp_path)[1]
    guardrails = {
        item["guardrail_name"]: item["litellm_params"]
        for item in litellm_config("starter", tmp_path)[1]["guardrails"]
    }
    assert guardrails["prompt-injection"]["mode"] == "pre_call"
    assert guardrails["pii"]["mode"] == ["pre_call", "post_call"]
    assert all(item["default_on"] for item in guardrails.values())


def test_every_kind_of_artifact_has_an_installer() -> None:
    """Both dictionaries name the same kinds, in the words of the schema."""
    assert INSTALLERS.keys() == ARTIFACTS.keys()
    assert all(kind.model_fields["kind"].annotation.__args__ == (name,) for name, kind in ARTIFACTS.items())
