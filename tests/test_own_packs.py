"""Packs with five dimensions, with two and with finer ones, through every setting of the method."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from mmad_metric.chat import ChatRequest
from mmad_metric.cli import main
from mmad_metric.config import MMADConfig
from mmad_metric.errors import ConfigError, PackError
from mmad_metric.local.span_schema import TIGHT, constrain
from mmad_metric.method_space import STRATEGIES, TOPICS
from mmad_metric.mqm import NON_TRANSLATION
from mmad_metric.packs import load_pack
from mmad_metric.pipeline import rate_segment
from mmad_metric.rating import Segment, SegmentRating
from mmad_metric.results import SystemTotals
from mmad_metric.scoring import load_scheme, scheme_from_table, scheme_table
from mmad_metric.session import Plan
from mmad_metric.testing import ScriptedChat, annotation, scripted_method
from tests.loopback import LoopbackServer
from tests.loopback_replies import ReceivedCall

ROOT = Path(__file__).resolve().parent.parent
MEDICAL = str(ROOT / "examples" / "medical")
SEGMENT = Segment(
    "Take 2.5 mg. Stop if you get itching.", "Nehmen Sie 2.5 mg. Stopp bei Pruritus, ja."
)
# Each of another dimension of the medical pack; by hand 5 + 5 + 1 = 11 points.
FOUND = [
    annotation("2.5 mg", "locale convention/number format"),
    annotation("Stopp", "accuracy/dose or time"),
    annotation("Pruritus", "terminology/too technical", "minor"),
]


class Company:
    """Annotators find what is of their dimension, the others hold all that they were shown."""

    def __init__(self, found: list[dict[str, Any]], dimensions: dict[str, str]) -> None:
        self.found = found
        self.titles = dimensions

    def __call__(self, request: ChatRequest) -> str:
        name = request.schema.name
        if name == "consensus_check":
            return '{"consistent": "no"}'
        if name == "interrogation":
            return '{"questions": "Why?"}'
        items = self.found
        if name in ("dimension_annotations", "debate_turn", "dimension_verdict"):
            said = "\n".join(message.content for message in request.messages)
            items = [each for each in items if self._home(each) in said]
        return json.dumps({"argument": "So.", "analysis": "So.", "annotations": items})

    def _home(self, item: dict[str, Any]) -> str:
        """What stands in a chat of the dimension that reports the item, and in no other."""
        return self.titles[re.split(" ?[/-] ?", str(item["category"]).lower())[0]]


def company(pack: str, found: list[dict[str, Any]], *, coupled: bool = False) -> Company:
    titles = {each.name: f"of quality, {each.title}." for each in load_pack(pack).dimensions}
    return Company(found, dict.fromkeys(titles, "") if coupled else titles)


def rated(pack: str, found: list[dict[str, Any]], **options: Any) -> SegmentRating:
    chat = ScriptedChat(company(pack, found, coupled=options.get("skip_stages") == [1]))
    return asyncio.run(rate_segment(SEGMENT, scripted_method(chat, prompts=pack, **options)))


SETTINGS = [
    {"strategy": strategy, "topic": topic, "skip_stages": list(stages), "rounds": 1}
    for strategy, topic, stages in product(STRATEGIES[:-1], TOPICS, ((), (1,), (3,)))
]
SETTINGS += [{"strategy": "none"}, {"skip_stages": [2]}]


@pytest.mark.parametrize("options", SETTINGS, ids=lambda each: " ".join(map(str, each.values())))
def test_five_dimensions_keep_their_labels_in_every_setting(options: dict[str, Any]):
    rating = rated(MEDICAL, FOUND, **options)
    assert [(error.text, str(error.category)) for error in sorted(
        rating.errors, key=lambda error: error.start or 0
    )] == [
        ("2.5 mg", "locale convention/number format"),
        ("Stopp", "accuracy/dose or time"),
        ("Pruritus", "terminology/too technical"),
    ]  # fmt: skip
    assert all(error.flags == () for error in rating.errors)
    assert rating.score == -11.0


def test_numbers_by_dimension_are_under_the_packs_own_names():
    totals = SystemTotals("", load_scheme("mmad"))
    totals.add(rated(MEDICAL, FOUND, strategy="none"))
    assert totals.to_dict()["by_dimension"] == {
        "accuracy": {"n_major": 1, "n_minor": 0, "penalty": 5.0},
        "locale convention": {"n_major": 1, "n_minor": 0, "penalty": 5.0},
        "terminology": {"n_major": 0, "n_minor": 1, "penalty": 1.0},
    }


@pytest.mark.parametrize("stages", [[], [3]], ids=str)
def test_of_equal_errors_on_one_span_the_packs_first_dimension_wins(stages: list[int]):
    # In the typology fluency stands before terminology; in this pack it is the other way round.
    both = [
        annotation("Pruritus", "fluency/register"),
        annotation("Pruritus", "terminology/too technical"),
    ]
    rating = rated(MEDICAL, both, strategy="consensus", skip_stages=stages, rounds=1)
    assert [str(error.category) for error in rating.errors] == ["terminology/too technical"]


TABLE = {
    "major": 5, "minor": 1,
    "rules": [{"label": "accuracy/dose or time", "weight": 25},
              {"label": "locale convention", "severity": "major", "weight": 7},
              {"label": "Terminology/Too technical", "weight": 0.5}],
}  # fmt: skip


def test_a_weight_table_may_name_the_packs_own_labels():
    rating = rated(MEDICAL, FOUND, strategy="none", weights=TABLE)
    assert rating.score == -(7 + 25 + 0.5)


def test_such_a_table_is_read_back_from_a_run_files_header():
    plan = Plan.of(MMADConfig.of("en-de", prompts=MEDICAL, weights=TABLE))
    table = plan.to_dict()["weight_table"]
    assert table["rules"][0]["label"] == "accuracy/dose or time"
    assert scheme_table(scheme_from_table("own", table)) == table


def test_a_label_that_neither_typology_nor_pack_has_is_refused():
    with pytest.raises(ConfigError, match="dose or time"):
        Plan.of(MMADConfig.of("en-de", weights=TABLE))


# -- other shapes

TWO = [("meaning", "Meaning", ["wrong sense", "lost"]), ("form", "Form", ["clumsy"])]
FINER = [
    (name, name.capitalize(), ["wrong"]) for name in ("names", "numbers", "negation", "verbs",
                                                      "articles", "commas", "tone")
]  # fmt: skip


def folder_of(root: Path, dimensions: list[tuple[str, str, list[str]]]) -> str:
    """A pack of these dimensions, that takes all else from a shipped one."""
    lines = ['extends = "mmad"', 'name = "mine"', 'version = "1"']
    demos = []
    for name, title, subcategories in dimensions:
        lines += ["[[dimensions]]", f'name = "{name}"', f'title = "{title}"']
        lines += [f"subcategories = {json.dumps(subcategories)}", f'guidance = "{name}.j2"']
        (root / f"{name}.j2").write_text(f"All about {name}.", encoding="utf-8")
        demos.append({"dimension": name, "source": "A.", "translation": "B.",
                      "annotations": [annotation("B", f"{name}/{subcategories[0]}")]})  # fmt: skip
    (root / "pack.toml").write_text("\n".join(lines), encoding="utf-8")
    for place, listed in (
        (root / "demos", demos), (root / "variants/demos", [{**demos[0], "dimension": "coupled"}])
    ):  # fmt: skip
        place.mkdir(parents=True)
        text = "".join(json.dumps(demo) + "\n" for demo in listed)
        (place / "en-de.jsonl").write_text(text, encoding="utf-8")
    return str(root)


@pytest.mark.parametrize("dimensions", [TWO, FINER], ids=["two", "seven"])
@pytest.mark.parametrize(
    "options",
    [{"strategy": "deliberation", "topic": "category"}, {"strategy": "interactive-review"},
     {"topic": "free"}, {"skip_stages": [1]}, {"skip_stages": [3]}, {"strategy": "none"}],
    ids=str,
)  # fmt: skip
def test_two_dimensions_and_seven_work_as_well(
    tmp_path: Path, dimensions: list[tuple[str, str, list[str]]], options: dict[str, Any]
):
    pack = folder_of(tmp_path, dimensions)
    first, last = dimensions[0], dimensions[-1]
    found = [
        annotation("Stopp", f"{last[0]}/{last[2][-1]}"),
        annotation("Pruritus", f"{first[0].upper()} - {first[2][0]}", "minor"),
    ]
    rating = rated(pack, found, **options)
    assert sorted(str(error.category) for error in rating.errors) == sorted(
        [f"{last[0]}/{last[2][-1]}", f"{first[0]}/{first[2][0]}"]
    )
    assert rating.score == -6.0
    assert len(rating.outcomes) == (1 if options == {"skip_stages": [1]} else len(dimensions))


# -- the embedded model is offered what it may say


def labels_offered(request: ChatRequest) -> set[str]:
    bounds = replace(TIGHT, labels=request.labels)
    narrow = constrain(request.schema.json_schema, request.texts, bounds)
    text = json.dumps(narrow)
    every = [label for each in load_pack(MEDICAL).dimensions for label in each.labels]
    return {label for label in every if f'"{label}"' in text}


@pytest.mark.parametrize("topic", TOPICS)
def test_each_agent_may_choose_among_the_labels_that_its_topic_allows(topic: str):
    chat = ScriptedChat(company(MEDICAL, FOUND))
    method = scripted_method(chat, prompts=MEDICAL, topic=topic, rounds=1, strategy="deliberation")
    asyncio.run(rate_segment(SEGMENT, method))
    every = {label for each in load_pack(MEDICAL).dimensions for label in each.labels}
    by_role = {
        role: [labels_offered(each) for each in chat.requests if each.role == role]
        for role in ("annotate", "pro", "con", "dimension-judge", "judge")
    }
    assert all(len({label.split("/")[0] for label in one}) == 1 for one in by_role["annotate"])
    assert set().union(*by_role["annotate"]) == every
    for role in ("pro", "con", "dimension-judge"):
        for one in by_role[role]:
            n_dimensions = len({label.split("/")[0] for label in one})
            assert n_dimensions == (5 if topic == "category" else 1), role
    assert by_role["judge"] == [every]


# -- extends


def test_a_pack_that_extends_another_takes_what_it_lacks_and_changes_with_what_it_has(
    tmp_path: Path,
):
    folder = folder_of(tmp_path, TWO)
    pack, shipped = load_pack(folder), load_pack("mmad")
    assert pack.templates == shipped.templates
    assert pack.openings == shipped.openings
    assert [each.name for each in pack.dimensions] == ["meaning", "form"]
    assert list(pack.demos) == ["en-de"]
    assert pack.material_digest == shipped.material_digest
    before = pack.identity
    (tmp_path / "judge.user.j2").write_text("Own {{ source }}", encoding="utf-8")
    changed = load_pack(folder)
    assert changed.identity != before
    assert changed.files["judge.user.j2"] == "Own {{ source }}"


def test_without_own_demonstrations_for_them_variants_are_not_taken(tmp_path: Path):
    folder = folder_of(tmp_path, TWO)
    (tmp_path / "variants/demos/en-de.jsonl").unlink()
    assert load_pack(folder).variants == {}


@pytest.mark.parametrize("base", ['"nothing"', '"../x"', "3", '"mine"'], ids=str)
def test_what_is_no_shipped_pack_cannot_be_extended(tmp_path: Path, base: str):
    folder = folder_of(tmp_path, TWO)
    text = (tmp_path / "pack.toml").read_text(encoding="utf-8")
    (tmp_path / "pack.toml").write_text(text.replace('"mmad"', base), encoding="utf-8")
    with pytest.raises(PackError, match=r"extends is the name of a shipped pack"):
        load_pack(folder)


# -- the example


def test_every_demonstration_of_the_example_quotes_its_texts_and_each_dimension_has_a_clean_one():
    pack = load_pack(MEDICAL)
    for demos in (pack.demos["en-de"], pack.coupled_demos["en-de"]):
        names = {demo.dimension for demo in demos}
        assert NON_TRANSLATION in names
        for name in names - {NON_TRANSLATION}:
            assert any(demo.dimension == name and not demo.annotations for demo in demos)
    assert {demo.dimension for demo in pack.demos["en-de"]} == {
        NON_TRANSLATION, *(each.name for each in pack.dimensions)
    }  # fmt: skip


# -- names of dimensions


@pytest.mark.parametrize(
    "name", ["a/b", "a=b", "a,b", "<b>", "a\\nb", "coupled", "non-translation"]
)
def test_a_name_that_options_and_prompts_could_not_hold_is_refused(tmp_path: Path, name: str):
    folder = one_dimension(tmp_path, name)
    with pytest.raises(PackError, match=r"dimensions\[0\]: .* cannot be the name of a dimension"):
        load_pack(str(folder))


def test_letter_case_makes_no_difference_to_the_name_of_a_dimension(tmp_path: Path):
    pack = load_pack(str(one_dimension(tmp_path, "Locale")))
    assert [each.name for each in pack.dimensions] == ["locale"]
    assert [each.dimension for each in pack.demos["en-de"]] == ["locale"]


def one_dimension(folder: Path, name: str) -> Path:
    """A pack of one dimension whose demonstration calls it the same."""
    (folder / "pack.toml").write_text(
        'extends = "brief"\nname = "mine"\nversion = "1"\n[[dimensions]]\n'
        f'name = "{name}"\ntitle = "T"\nsubcategories = ["s"]\nguidance = "g.j2"\n',
        encoding="utf-8",
    )
    (folder / "g.j2").write_text("Look.", encoding="utf-8")
    (folder / "demos").mkdir()
    demo = {"dimension": name, "source": "a", "translation": "b", "annotations": []}
    (folder / "demos" / "en-de.jsonl").write_text(json.dumps(demo) + "\n", encoding="utf-8")
    return folder


# -- from the run file on


def answering(call: ReceivedCall) -> str:
    said = str(call.messages[0]["content"])
    items = [
        each for each in FOUND
        if call.schema == "final_judgement"
        or f"of quality, {str(each['category']).split('/')[0].capitalize()}." in said
    ]  # fmt: skip
    return json.dumps({"analysis": "", "annotations": items})


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run file of the medical pack."""
    monkeypatch.chdir(tmp_path)
    Path("s.txt").write_text(SEGMENT.source + "\n", encoding="utf-8")
    Path("h.txt").write_text(SEGMENT.translation + "\n", encoding="utf-8")
    with LoopbackServer(answering) as server:
        status = main(["-s", "s.txt", "-i", "h.txt", "-l", "en-de", "--prompts", MEDICAL, "-q",
                       "--base-url", server.url, "--strategy", "none", "-o", "run.jsonl",
                       "--weights", json.dumps(TABLE)])  # fmt: skip
        assert status == 0
    return tmp_path / "run.jsonl"


def test_exports_and_comparisons_know_the_packs_own_labels(
    run: Path, capsys: pytest.CaptureFixture[str]
):
    wanted = "scores,ratings,marot,spans"
    assert main(["export", str(run), "-o", "out", "--to", wanted]) == 0
    exported = "".join(path.read_text(encoding="utf-8") for path in Path("out").rglob("*.*"))
    for item in FOUND:
        assert str(item["category"]) in exported.lower()
    assert "-32.5" in exported
    Path("again.jsonl").write_bytes(run.read_bytes())
    capsys.readouterr()
    assert main(["compare", str(run), "again.jsonl", "--name", "a", "b", "-f", "text"]) == 0
    assert "locale convention" in capsys.readouterr().out.lower()
