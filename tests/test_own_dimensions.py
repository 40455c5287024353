"""A pack with other dimensions than ours: labels are read against its own list, everywhere."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from mmad_metric.chat import ChatRequest
from mmad_metric.config import MMADConfig
from mmad_metric.deciding_prompts import check_prompts, check_variants
from mmad_metric.errors import PackError
from mmad_metric.labels import parse_category
from mmad_metric.languages import LanguagePair
from mmad_metric.packs import load_pack
from mmad_metric.pipeline import rate_segment
from mmad_metric.rating import Segment, SegmentRating
from mmad_metric.session import Plan
from mmad_metric.templates import Prompts
from mmad_metric.testing import ScriptedChat, annotation, scripted_method

SHIPPED = Path(__file__).resolve().parent.parent / "prompts" / "mmad"
SEGMENT = Segment("It costs 1,500 euros.", "Es kostet 1,500 Euro per Sofa.")
LOCALE = ("locale", ("number format", "date", "punctuation"))
ACCURACY = ("accuracy", ("mistranslation", "named entity"))
OWN = (LOCALE, ACCURACY)

_PACK = """
name = "own"
version = "1"

[[dimensions]]
name = "Locale"
title = "Locale"
subcategories = ["Number format", "date", "punctuation"]
guidance = "dimensions/locale.j2"

[[dimensions]]
name = "accuracy"
title = "Accuracy"
subcategories = ["mistranslation", "named entity"]
guidance = "dimensions/accuracy.j2"
"""
_DEMOS: list[dict[str, object]] = [
    {
        "dimension": "locale",
        "source": "On 3 May.",
        "translation": "Am 3 Mai.",
        "annotations": [annotation("3 Mai", "locale/date", "minor")],
    },
    {
        "dimension": "locale",
        "source": "It weighs 2.5 kg.",
        "translation": "Es wiegt 2.5 kg.",
        "annotations": [annotation("2.5", "number format", "minor")],
    },
    {
        "dimension": "accuracy",
        "source": "Anna called.",
        "translation": "Anne rief an.",
        "annotations": [annotation("Anne", "accuracy/named entity", "major")],
    },
]


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """The shipped pack with two dimensions of somebody's own."""
    folder = tmp_path / "own"
    shutil.copytree(SHIPPED, folder)
    text = (folder / "pack.toml").read_text(encoding="utf-8")
    (folder / "pack.toml").write_text(_PACK + text[text.index("[templates]") :], encoding="utf-8")
    (folder / "dimensions/locale.j2").write_text("Formats of the target locale.")
    for demos in (folder / "demos").iterdir():
        demos.unlink()
    _write_demos(folder, _DEMOS)
    shutil.rmtree(folder / "variants/demos")
    (folder / "variants/demos").mkdir()
    coupled = [{**demo, "dimension": "coupled"} for demo in _DEMOS[::2]]
    _write_demos(folder / "variants", coupled)
    return folder


def _write_demos(folder: Path, demos: list[dict[str, object]]) -> None:
    lines = "".join(json.dumps(demo) + "\n" for demo in demos)
    (folder / "demos/en-de.jsonl").write_text(lines, encoding="utf-8")


def rate(pack: Path, *found: dict[str, object], **options: object) -> SegmentRating:
    """Each agent reports what is labelled for it, the judge everything."""

    def script(request: ChatRequest) -> str:
        items = list(found)
        if request.schema.name == "dimension_annotations":
            home = "locale" if "locale errors" in request.messages[-1].content else "accuracy"
            items = [each for each in found if str(each["category"]).startswith(home)]
        if request.role == "judge":
            items = list(found)
        return json.dumps({"argument": "", "analysis": "", "annotations": items})

    chat = ScriptedChat(script)
    settings: dict[str, Any] = {"prompts": str(pack), "strategy": "none", **options}
    return asyncio.run(rate_segment(SEGMENT, scripted_method(chat, **settings)))


def test_the_pack_is_sound_and_its_demonstrations_are_read(pack: Path):
    loaded = load_pack(str(pack))
    assert loaded.own_labels == OWN
    made = Prompts(loaded, LanguagePair.parse("en-de"))
    check_prompts(made)
    check_variants(made)
    shown = [str(each.category) for demo in loaded.demos["en-de"] for each in demo.annotations]
    assert shown == ["locale/date", "locale/number format", "accuracy/named entity"]
    assert "locale/number format" in made.annotate(loaded.dimensions[0], ("a", "b"))[0].content


def test_a_label_of_its_own_dimension_survives_agent_and_judge(pack: Path):
    rating = rate(
        pack,
        annotation("1,500", "locale/number format", "minor"),
        annotation("Sofa", "accuracy/named entity"),
    )
    assert [str(error.category) for error in rating.errors] == [
        "locale/number format",
        "accuracy/named entity",
    ]
    assert [error.flags for error in rating.errors] == [(), ()]
    assert rating.score == -6.0


def test_the_coupled_agent_and_its_debate_read_them_too(pack: Path):
    rating = rate(
        pack,
        annotation("1,500", "Locale/Number format"),
        strategy="deliberation",
        skip_stages=[1],
        rounds=1,
    )
    (outcome,) = rating.outcomes
    assert [str(each.category) for each in outcome.outcome] == ["locale/number format"]
    assert [str(error.category) for error in rating.errors] == ["locale/number format"]


def test_of_two_equal_errors_on_a_span_the_packs_first_dimension_wins(pack: Path):
    rating = rate(
        pack,
        annotation("1,500", "accuracy/mistranslation", "minor"),
        annotation("1,500", "locale/number format", "minor"),
    )
    assert [str(error.category) for error in rating.errors] == ["locale/number format"]


@pytest.mark.parametrize(
    ("said", "home", "meant"),
    [
        ("locale/number format", None, "locale/number format"),
        ("LOCALE - Number_Format", None, "locale/number format"),
        ("number format", None, "locale/number format"),
        ("named entity", None, "accuracy/named entity"),
        ("accuracy/named entity", "locale", "accuracy/named entity"),
        ("locale/numbr format", "locale", "locale/number format"),
        ("locale/punctuation", None, "locale/punctuation"),  # not fluency's
        ("punctuation", "locale", "locale/punctuation"),
        ("fluency/punctuation", None, "fluency/punctuation"),
        ("accuracy/mistranslation", None, "accuracy/mistranslation"),
        ("accuracy/omission", None, "accuracy/omission"),  # ours, if the pack does not ask for it
        ("locale/currency", None, "locale/currency"),  # its subcategories are not ours to judge
        ("locale", None, "locale"),
        ("non-translation", "locale", "non-translation"),
    ],
)
def test_labels_mean_what_the_pack_means_by_them(said: str, home: str | None, meant: str):
    parsed = parse_category(said, home, OWN)
    assert parsed is not None
    assert (str(parsed[0]), parsed[2]) == (meant, ())


def test_a_label_that_nobody_knows_is_flagged_and_kept_as_ever():
    parsed = parse_category("sparkle", "locale", OWN)
    assert parsed is not None
    assert (str(parsed[0]), parsed[1], parsed[2]) == (
        "locale/other",
        "sparkle",
        ("unknown_category",),
    )


def test_a_pack_of_our_dimensions_has_no_labels_of_its_own():
    assert load_pack("mmad").own_labels == ()
    assert load_pack("brief").own_labels == ()


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('"date"', '"date/time"', "date/time"),
        ('name = "Locale"', 'name = "non-translation"', "non-translation"),
        ('name = "Locale"', 'name = "coupled"', "coupled"),
        ('"date"', '"days"', "locale/date is no category"),
    ],
)
def test_a_dimension_that_could_not_be_told_from_another_is_refused(
    pack: Path, old: str, new: str, named: str
):
    text = (pack / "pack.toml").read_text(encoding="utf-8")
    assert old in text
    (pack / "pack.toml").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(PackError, match=named):
        load_pack(str(pack))


@pytest.mark.parametrize(
    "options",
    [{"strategy": "deliberation"}, {"topic": "free", "strategy": "consensus"},
     {"skip_stages": [1]}],
    ids=str,
)  # fmt: skip
def test_a_pack_without_variants_serves_the_default_settings_and_says_so(
    pack: Path, options: dict[str, object]
):
    (pack / "variants.toml").unlink()
    assert rate(pack, strategy="consensus").score == 0.0
    with pytest.raises(PackError, match=r"variants\.toml"):
        rate(pack, **options)


def test_a_default_template_may_not_take_from_what_its_hash_leaves_out(pack: Path):
    (pack / "judge.user.j2").write_text('{% include "variants/topic.j2" %}')
    with pytest.raises(PackError, match=r"judge\.user\.j2"):
        load_pack(str(pack))


@pytest.mark.parametrize(
    ("file", "words", "named"),
    [
        ("variants/answer.j2", "{% if %}", r"answer\.j2:1"),
        ("variants/answer.j2", "{{ qestions }}", "qestions"),
        ("variants.toml", "", "openings"),
    ],
)
def test_a_broken_variant_fails_before_the_first_call(
    pack: Path, file: str, words: str, named: str
):
    (pack / file).write_text(words)
    with pytest.raises(PackError, match=named):
        rate(pack, strategy="interactive-review")


def test_only_settings_that_use_a_variant_show_its_change_in_their_signature(pack: Path):
    def shown(**options: object) -> str:
        config = MMADConfig.of("en-de", prompts=str(pack), **options)
        return Plan.of(config).signature_fields()["prompts"]

    before = shown(), shown(strategy="deliberation"), shown(skip_stages=[1])
    path = pack / "variants/verdict.user.j2"
    path.write_text(path.read_text(encoding="utf-8") + "Be fair.\n", encoding="utf-8")
    after = shown(), shown(strategy="deliberation"), shown(skip_stages=[1])
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, False]
