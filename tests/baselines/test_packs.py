"""The baselines' packs: sound as shipped, replaceable by a user's, refused with the reason."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mmad_metric.baselines.packs import TEMPLATES, BaselinePack, load_baseline_pack
from mmad_metric.baselines.prompts import BaselinePrompts
from mmad_metric.config import MMADConfig
from mmad_metric.errors import ConfigError, PackError
from mmad_metric.languages import LanguagePair
from mmad_metric.method_space import METHODS
from mmad_metric.mqm import TYPOLOGY
from mmad_metric.packs import load_pack
from mmad_metric.session import Plan
from mmad_metric.templates import annotations_reply

SHIPPED = Path(__file__).resolve().parents[2] / "prompts"
BASELINES = METHODS[1:]
LISTING = ("gemba-mqm", "eaprompt")


def prompts_of(method: str, lp: str) -> BaselinePrompts:
    return BaselinePrompts(load_baseline_pack(method, method), LanguagePair.parse(lp))


@pytest.fixture
def copy(tmp_path: Path) -> Callable[[str], Path]:
    """A user's folder with a shipped pack in it."""

    def copied(method: str) -> Path:
        return Path(shutil.copytree(SHIPPED / method, tmp_path / method))

    return copied


@pytest.mark.parametrize("method", BASELINES)
@pytest.mark.parametrize("lp", ["en-de", "he-en", "sw-xh", "zh_Hant-en"])
def test_a_shipped_pack_is_sound_for_any_language_pair(method: str, lp: str):
    prompts_of(method, lp).check()


@pytest.mark.parametrize("method", LISTING)
def test_the_typology_and_its_labels_are_in_the_instruction(method: str):
    made = prompts_of(method, "en-de")
    assert {each.name: each.subcategories for each in made.pack.dimensions} == TYPOLOGY
    system = made.annotate(("a", "b"))[0].content
    for dimension in made.pack.dimensions:
        assert all(label in system for label in dimension.labels)
    assert "non-translation" in system


@pytest.mark.parametrize("method", BASELINES)
def test_each_prompt_says_json_and_what_shape(method: str):
    for _, messages in prompts_of(method, "en-de").calls(("a", "b")):
        said = "\n".join(each.content for each in messages)
        assert "JSON" in said
        assert '{"' in said


def test_gemba_mqm_shows_the_same_three_demonstrations_for_every_pair():
    prefixes = {prompts_of("gemba-mqm", lp).annotate(("a", "b"))[1:-1] for lp in ("en-de", "ja-fi")}
    assert len(prefixes) == 1
    assert prompts_of("gemba-mqm", "ja-fi").demo_pair == "en-de+en-cs+zh-en"
    assert len(prefixes.pop()) == 6


@pytest.mark.parametrize(
    ("lp", "shown", "borrowed"),
    [("en-de", "en-de", ""), ("en-ru", "en-ru", ""), ("he-en", "zh-en", "zh-en"),
     ("en-fi", "en-de", "en-de"), ("fi-ja", "en-de", "en-de")],
)  # fmt: skip
def test_eaprompt_shows_one_that_of_the_nearest_pair(lp: str, shown: str, borrowed: str):
    made = prompts_of("eaprompt", lp)
    assert (made.demo_pair, made.borrowed_pair) == (shown, borrowed)
    assert len(made.annotate(("a", "b"))) == 4  # instruction, pair and answer, the segment


@pytest.mark.parametrize("method", LISTING)
def test_a_demonstration_answers_as_the_reader_understands_it(method: str):
    pack = load_baseline_pack(method, method)
    for demos in pack.demos.values():
        for demo in demos:
            said = json.loads(annotations_reply(demo.annotations))["annotations"]
            texts = (demo.source, demo.translation)
            assert all(each["error_span"] in texts[not each["is_source_error"]] for each in said)
            assert {"major", "minor"} & {each["severity"] for each in said}


def test_all_severities_of_gemba_mqm_are_demonstrated():
    demos = load_baseline_pack("gemba-mqm", "gemba-mqm").demos
    said = {each.severity.value for [demo] in demos.values() for each in demo.annotations}
    assert said == {"critical", "major", "minor"}


# -- a user's own


@pytest.mark.parametrize("method", BASELINES)
def test_a_users_copy_works_and_a_changed_word_changes_the_signature(copy, method: str):
    folder = copy(method)

    def plan(prompts: str | None) -> Plan:
        return Plan.of(MMADConfig.of("en-de", method=method, prompts=prompts))

    assert plan(str(folder)).pack_identity == plan(None).pack_identity
    file = folder / next(iter(load_baseline_pack(method, method).templates.values()))
    file.write_text(file.read_text("utf-8") + "\nBe strict.\n", encoding="utf-8")
    changed = plan(str(folder))
    assert changed.pack_identity != plan(None).pack_identity
    assert changed.signature_fields()["prompts"] == changed.pack_identity


def test_labels_of_a_users_own_dimensions_are_read_as_the_pack_has_them(copy):
    folder = copy("gemba-mqm")
    file = folder / "pack.toml"
    added = '[[dimensions]]\nname = "dosage"\ntitle = "Dosage"\nsubcategories = ["wrong unit"]\n'
    text = file.read_text("utf-8").replace("[templates]", added + "\n[templates]")
    file.write_text(text, encoding="utf-8")
    pack = load_baseline_pack(str(folder), "gemba-mqm")
    assert pack.own_labels == (("dosage", ("wrong unit",)),)
    system = BaselinePrompts(pack, LanguagePair.parse("en-de")).annotate(("a", "b"))[0].content
    assert "dosage/wrong unit" in system


@pytest.mark.parametrize("method", BASELINES)
def test_a_pack_of_another_kind_is_refused_with_what_is_missing(method: str):
    with pytest.raises(PackError) as caught:
        load_baseline_pack("mmad", method)
    assert "is for method mmad" in str(caught.value)
    assert f'method = "{method}"' in str(caught.value)
    assert all(name in str(caught.value) for name in TEMPLATES[method])
    with pytest.raises(PackError, match=f"is for method {method}.*annotate_system.*judge_user"):
        load_pack(method)


def test_a_baseline_does_not_take_another_ones_pack():
    with pytest.raises(PackError, match="is for method gemba-mqm; method eaprompt"):
        Plan.of(MMADConfig.of("en-de", method="eaprompt", prompts="gemba-mqm"))


def edit(old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        file = folder / "pack.toml"
        text = file.read_text("utf-8")
        assert old in text
        file.write_text(text.replace(old, new), encoding="utf-8")

    return change


def write(name: str, text: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_text(text, encoding="utf-8")

    return change


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


DEMO = '{"dimension": "coupled", "source": "a", "translation": "b", "annotations": []}'
BROKEN = [
    ("eaprompt", edit('count_user = "count.user.j2"', ""), "count_user is missing"),
    ("eaprompt", remove("count.user.j2"), "'count.user.j2' does not exist"),
    ("eaprompt", edit('version = "1"', ""), "version is missing"),
    ("eaprompt", edit('method = "eaprompt"', 'method = "eprompt"'), "'eprompt' is not one of"),
    ("eaprompt", edit('demos = ["en-de", "en-ru", "zh-en"]', ""), "is a list of language pairs"),
    ("eaprompt", edit('"en-ru", ', ""), "demos/en-ru.jsonl is not named"),
    ("eaprompt", edit('"en-ru"', '"en-fi"'), "no demos/en-fi.jsonl"),
    ("eaprompt", edit('"en-ru"', '"en-de"'), "en-de is named twice"),
    ("eaprompt", write("demos/en-ru.jsonl", "{}"), "en-ru.jsonl:1"),
    ("eaprompt", write("demos/en-ru.jsonl", DEMO[:-1]), "en-ru.jsonl:1: not JSON"),
    ("eaprompt", write("count.user.j2", "{% if %}"), "count.user.j2:1"),
    ("eaprompt", write("count.user.j2", "{{ listed }}"), "'listed' is undefined"),
    ("gemba-mqm", write("annotate.user.j2", "{{ ''.__class__.__mro__ }}"), "pack gemba-mqm"),
    ("gemba-mqm", edit('subcategories = ["awkward"]', "subcategories = []"), "subcategories"),
    ("gemba-mqm", remove("pack.toml"), "no pack.toml"),
    ("gemba-da", edit('name = "gemba-da"', 'name = "da"\ndemos = ["en-de"]'), "no demos"),
    ("gemba-da", remove("score.user.j2"), "'score.user.j2' does not exist"),
]


@pytest.mark.parametrize(("method", "spoil", "named"), BROKEN, ids=[each[2] for each in BROKEN])
def test_a_broken_pack_fails_before_any_call_with_file_and_reason(copy, method, spoil, named):
    folder = copy(method)
    spoil(folder)
    with pytest.raises(PackError) as caught:
        Plan.of(MMADConfig.of("en-de", method=method, prompts=str(folder)))
    assert named in str(caught.value)


def test_demonstrations_beside_a_direct_score_would_be_left_unused(copy):
    folder = copy("gemba-da")
    (folder / "demos").mkdir()
    (folder / "demos" / "en-de.jsonl").write_text(DEMO, encoding="utf-8")
    with pytest.raises(PackError, match=r"demos/en-de.jsonl: method gemba-da shows no demonstr"):
        load_baseline_pack(str(folder), "gemba-da")


def test_a_name_that_is_no_pack_is_told_with_those_that_are():
    with pytest.raises(ConfigError, match="brief, eaprompt, gemba-da, gemba-mqm, mmad"):
        load_baseline_pack("gemba", "gemba-mqm")


def test_an_identity_is_name_version_and_hash():
    pack: BaselinePack = load_baseline_pack("gemba-da", "gemba-da")
    assert pack.identity == f"gemba-da.{pack.version}@{pack.digest[:12]}"
