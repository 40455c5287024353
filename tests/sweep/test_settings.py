"""From the grid file to settings: combinations, what does not apply, names, everything wrong."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from mmad_metric.config import option_fields
from mmad_metric.errors import InputError, NotApplicable
from mmad_metric.sweep.grid import GridError, read_grid, varying
from mmad_metric.sweep.settings import Settings, make_settings

EXAMPLE = Path(__file__).parents[2] / "examples" / "strategies.toml"


def settings(tmp_path: Path, text: str, **given: Any) -> Settings:
    (tmp_path / "grid.toml").write_text(text, encoding="utf-8")
    return make_settings(read_grid(str(tmp_path / "grid.toml")), {"lp": "en-de", **given})


def names(made: Settings) -> list[str]:
    return [each.name for each in made.settings]


def problems(tmp_path: Path, text: str, **given: Any) -> list[str]:
    """What is wrong, without the folder of the file."""
    with pytest.raises(GridError) as caught:
        settings(tmp_path, text, **given)
    return [line.replace(f"{tmp_path}/", "") for line in caught.value.problems]


def test_the_shipped_example_is_thirteen_settings_in_the_files_order():
    made = make_settings(read_grid(str(EXAMPLE)), {"lp": "en-de"})
    debating = ("consensus", "deliberation", "interactive-review", "consultancy-review")
    assert names(made) == [
        *(f"{name}-r{rounds}" for name in debating for rounds in (1, 2, 3)), "none",
    ]  # fmt: skip
    assert [each.config.rounds for each in made.settings[:3]] == [1, 2, 3]
    assert {each.config.weights for each in made.settings} == {"wmt"}
    assert made.notices == (
        "none: rounds does not apply here, so that 3 combinations are one",
    )  # fmt: skip


def test_the_last_setting_varies_fastest_and_a_single_value_is_not_in_the_name(tmp_path: Path):
    made = settings(
        tmp_path,
        '[grid]\nrounds = [2, 1]\ntopic = ["free"]\nturns = ["sequential", "simultaneous"]',
    )
    assert names(made) == [
        "r2-sequential", "r2-simultaneous", "r1-sequential", "r1-simultaneous",
    ]  # fmt: skip
    assert {each.config.topic for each in made.settings} == {"free"}


@pytest.mark.parametrize(
    ("text", "expected", "notice"),
    [
        (
            'strategy = ["consensus", "deliberation"]\nfull_debate = [false, true]',
            ["consensus-no-full-debate", "consensus-full-debate", "deliberation"],
            "deliberation: full_debate does not apply here, so that 2 combinations are one",
        ),
        (
            'topic = ["severity", "free"]\ndispute = ["major", "any"]',
            ["severity-major", "severity-any", "free"],
            "free: dispute does not apply here, so that 2 combinations are one",
        ),
        (
            """
            strategy = ["consultancy-review", "none"]
            rounds = [1, 2]
            turns = ["sequential", "simultaneous"]
            """,
            ["consultancy-review-r1", "consultancy-review-r2", "none"],
            "none: rounds, turns do not apply here, so that 4 combinations are one",
        ),
        (
            "skip_stages = [[], [2]]\nrounds = [1, 2]",
            ["no-skip-stages-r1", "no-skip-stages-r2", "skip2"],
            "skip2: rounds does not apply here, so that 2 combinations are one",
        ),
    ],
    ids=["full_debate", "dispute", "turns", "skip"],
)
def test_combinations_that_differ_in_what_does_not_apply_are_one_and_it_is_said(
    tmp_path: Path, text: str, expected: list[str], notice: str
):
    made = settings(tmp_path, f"[grid]\n{text}\n")
    assert names(made) == expected
    assert notice in made.notices


def test_a_base_setting_is_left_out_where_it_does_not_apply(tmp_path: Path):
    made = settings(tmp_path, '[base]\nrounds = 2\n[grid]\nstrategy = ["consensus", "none"]\n')
    assert [each.config.rounds for each in made.settings] == [2, 3]  # 3: the default, unused
    assert made.notices == ("none: rounds does not apply here",)


@pytest.mark.parametrize(
    ("axis", "expected"),
    [
        ('model = ["gpt-4o-mini", "org/model:7b"]', ["gpt-4o-mini", "org-model-7b"]),
        ('weights = ["wmt", {major = 5, minor = 1}]', ["weights-wmt", "weights2"]),
        ('temperature = [0.7, "default"]', ["te0.7", "temperature-default"]),
        ("skip_stages = [[1], [1, 3]]", ["skip1", "skip1+3"]),
        ('role_models = [{}, {judge = "big"}]', ["role-models1", "role-models2"]),
        ('prompts = ["mmad", "./packs/very-long-name-of-a-pack-in-a-folder"]',
         ["prompts-mmad", "prompts2"]),
        ('base_url = ["http://user:secret@host/v1", "http://other/v1"]',
         ["base-url-http-host-v1", "base-url-http-other-v1"]),
    ],
    ids=["model", "weights", "temperature", "skip", "roles", "long", "address"],
)  # fmt: skip
def test_names_are_made_of_what_varies_and_fit_for_files(
    tmp_path: Path, axis: str, expected: list[str]
):
    assert names(settings(tmp_path, f"[grid]\n{axis}\n")) == expected


def test_settings_of_their_own_stand_behind_the_combinations(tmp_path: Path):
    made = settings(
        tmp_path,
        '[grid]\nrounds = [1, 2]\n[[settings]]\nname = "über.frei"\ntopic = "free"\n'
        '[[settings]]\nstrategy = "none"\n',
    )
    assert names(made) == ["r1", "r2", "über.frei", "none"]
    assert made.settings[2].config.topic == "free"


def test_the_command_line_goes_before_the_base_and_says_so(tmp_path: Path):
    made = settings(
        tmp_path, '[base]\nmodel = "a"\nseed = 7\n[grid]\nrounds = [1, 2]\n', model="b", seed=7
    )
    assert {each.config.model for each in made.settings} == {"b"}
    assert made.notices == ("model: the command line takes the place of [base]'s value",)


def test_the_language_pair_may_stand_in_the_base(tmp_path: Path):
    (tmp_path / "grid.toml").write_text('[base]\nlp = "zh-en"\n[grid]\nrounds = [1]\n')
    grid = read_grid(str(tmp_path / "grid.toml"))
    assert str(make_settings(grid, {}).settings[0].config.lp) == "zh-en"
    (tmp_path / "grid.toml").write_text("[grid]\nrounds = [1]\n")
    with pytest.raises(GridError, match="no language pair: give -l, or lp"):
        make_settings(read_grid(str(tmp_path / "grid.toml")), {})


def test_what_is_excluded_is_left_out_even_if_it_would_be_refused(tmp_path: Path):
    grid = """
[base]
prompts = "brief"
[grid]
strategy = ["consensus", "deliberation"]
rounds = [1, 99]
[[exclude]]
rounds = 99
[[exclude]]
strategy = "deliberation"
rounds = 1
"""
    assert names(settings(tmp_path, grid)) == ["consensus-r1"]


def test_every_setting_that_a_run_file_keeps_can_vary_and_no_other():
    # Whatever is added to the config is offered without a line in the sweep.
    wide = {"lp", "concurrency", "timeout", "max_retries", "max_cost", "cache", "use_cache"}
    assert {"strategy", "rounds", "base_url", "full_debate", "role_models"} <= varying()
    assert wide & varying() == set()
    assert varying() | wide <= option_fields().keys()


WRONG = {
    "unknown": (
        "[base]\nweigths = 'wmt'\n\n[grid]\nrounds = [1]\n",
        ["grid.toml, line 2: [base]: unknown setting 'weigths'; did you mean 'weights'?"],
    ),
    "section": (
        "[grids]\nrounds = [1]\n[grid]\nrounds = [1]\n",
        [("grid.toml, line 1: unknown section 'grids'; did you mean 'grid'?; sections are base, "
         "grid, settings, exclude")],
    ),
    "lists": (
        "[grid]\nrounds = 1\n\nstrategy = []\ntopic = ['free', 'free']\nconcurrency = [1, 2]\n",
        [("grid.toml, line 6: [grid]: concurrency is the same for the whole sweep: set it in "
         "[base] or on the command line"),
         ("grid.toml, line 2: [grid]: rounds: a list of values is expected; a single one goes into "
         "[base]"),
         "grid.toml, line 4: [grid]: strategy: the list is empty",
         "grid.toml, line 5: [grid]: topic: 'free' stands in the list more than once"],
    ),
    "tables": (
        "base = 1\n[settings]\nname = 'a'\n",
        ["grid.toml, line 1: [base] is a table of settings",
         "grid.toml, line 2: settings: tables [[settings]] are expected"],
    ),
    "names": (
        "[[settings]]\nname = '../up'\nrounds = 1\n[[settings]]\nname = 'x'\n",
        [("grid.toml, line 2: settings[0]: name '../up': letters, digits, '.', '_', '+' and '-' "
         "are expected, 120 at most, the first a letter or digit"),
         "grid.toml, line 4: settings[1]: holds no setting"],
    ),
    "values": (
        "[grid]\nstrategy = ['consensus', 'concensus']\nrounds = [1, '2', 11]\n",
        [("grid.toml, line 3: [grid] strategy consensus, rounds 2: rounds: expected a whole "
         "number, not '2'"),
         ("grid.toml, line 3: [grid] strategy consensus, rounds 11: rounds: 11 is not a whole "
         "number from 1 to 10"),
         ("grid.toml, line 2: [grid] strategy concensus, rounds 1: strategy: 'concensus' is not "
         "one of consensus, deliberation, interactive-review, consultancy-review, none (and 2 "
         "more like it)")],
    ),
    "base": (
        "[base]\ntemperature = 9\n[grid]\nrounds = [1, 2]\n",
        [("grid.toml, line 2: [base] rounds 1: temperature: 9 is not a number from 0 to 2 (and 1 "
         "more like it)")],
    ),
    "refused": (
        "[base]\nrole_models = {interrogator = 'm'}\n[grid]\nstrategy = ['deliberation']\n",
        [("grid.toml, line 2: [base] strategy deliberation: role_models: with these settings "
         "nobody plays 'interrogator'; the roles are annotate, pro, con, dimension-judge, judge")],
    ),
    "insisted": (
        "[[settings]]\nname = 'x'\nstrategy = 'none'\nrounds = 3\n",
        [("grid.toml, line 4: settings[0] x: rounds: strategy none has no debate, so rounds cannot "
         "be set")],
    ),
    "same": (
        "[grid]\nrounds = [1, 2]\n[[settings]]\nname = 'x'\nrounds = 2\n",
        ["grid.toml, line 3: settings[0] x: the same settings as rounds 2"],
    ),
    "collision": (
        "[grid]\nmodel = ['org/m', 'org-m']\n",
        [("grid.toml, line 1: [grid] model org-m, and model org/m: both are called 'org-m'; give "
         "them names as [[settings]]")],
    ),
    "case": (
        "[[settings]]\nname = 'A'\nrounds = 1\n[[settings]]\nname = 'a'\nrounds = 2\n",
        [("grid.toml, line 4: settings[1] a, and A: both are called 'a'; give them names as "
         "[[settings]]")],
    ),
    "exclusion": (
        "[grid]\nrounds = [1, 2]\n[[exclude]]\nrounds = 3\n",
        ["grid.toml, line 3: exclude[0] rounds 3: fits no combination of [grid]"],
    ),
    "nothing left": (
        "[grid]\nrounds = [1]\n[[exclude]]\nrounds = 1\n",
        ["grid.toml, line 3: exclude[0] nothing is left to run"],
    ),
    "nothing there": (
        "[base]\nrounds = 1\n",
        ["grid.toml: nothing to run: neither [grid] nor [[settings]] is there"],
    ),
    "toml": (
        "[grid]\nrounds = [1,\n\n",
        ["grid.toml: not TOML: "],
    ),
    "many": (
        f"[grid]\nseed = {list(range(50))}\nsample = {list(range(1, 22))}\n",
        ["grid.toml, line 1: [grid] more than 1000 combinations"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_all_that_is_wrong_is_told_with_its_place(tmp_path: Path, kind: str):
    text, expected = WRONG[kind]
    found = problems(tmp_path, text)
    assert len(found) == len(expected), found
    for line, start in zip(found, expected, strict=True):
        assert line.startswith(start), found


def test_the_command_line_may_not_set_what_the_file_varies(tmp_path: Path):
    text = "[grid]\nrounds = [1, 2]\n[[settings]]\nname = 'x'\nweights = 'wmt'\n"
    assert problems(tmp_path, text, rounds=3, weights="mmad") == [
        "grid.toml, line 2: [grid] rounds varies here; the command line cannot set it as well",
        (
            "grid.toml, line 5: settings[0] weights is set here; the command line cannot set it as "
            "well"
        ),
    ]


def test_no_message_shows_a_password(tmp_path: Path):
    text = (
        "[grid]\nbase_url = ['http://user:secret@host/v1']\nrounds = [99]\n"
        "role_models = [{judge = 'm@http://user:secret@host/v1'}]\n"
        "[[exclude]]\nbase_url = 'http://user:secret@other/v1'\n"
    )
    found = problems(tmp_path, text)
    assert len(found) == 2
    assert "secret" not in "".join(found)


def test_a_file_that_is_no_text_or_not_there_is_an_input_error(tmp_path: Path):
    with pytest.raises(InputError, match=r"gone\.toml"):
        read_grid(str(tmp_path / "gone.toml"))
    (tmp_path / "grid.toml").write_bytes(b"[grid]\nmodel = ['\xff']\n")
    with pytest.raises(InputError, match="line 2"):
        read_grid(str(tmp_path / "grid.toml"))


@pytest.mark.parametrize(
    "error", [GridError(["a: b", "c"]), NotApplicable("rounds", "no debate")], ids=["grid", "name"]
)
def test_what_errors_carry_survives_the_way_to_another_process(error: Exception):
    back = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (type(back), str(back), vars(back)) == (type(error), str(error), vars(error))
