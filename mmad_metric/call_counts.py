"""How many calls a segment takes, by strategy: the formulas of docs/method.md, exact."""

from __future__ import annotations

from mmad_metric.config import MMADConfig
from mmad_metric.method_space import METHOD_FACTS, SKIP_JUDGE, SKIP_PARTITION, is_baseline


def debate_calls(config: MMADConfig) -> tuple[int, int]:
    """(fewest, most) calls of the debate of one disputed dimension over R rounds.

    consensus: 3R - 2 at most, 3R with full_debate, and as few as a first round in which the sets
    become equal; deliberation: 2R + 1; interactive-review: 5R + 1 at most, 3R + 1 where the
    interrogator asks nothing; consultancy-review: 4R + 1 at most, 3 where it asks nothing.
    Without a debate 0.
    """
    if not config.debates():
        return 0, 0
    rounds = config.rounds
    if config.strategy == "consensus":
        return _consensus_calls(rounds, full=config.full_debate)
    return {
        "deliberation": (2 * rounds + 1, 2 * rounds + 1),
        "interactive-review": (3 * rounds + 1, 5 * rounds + 1),
        "consultancy-review": (3, 4 * rounds + 1),
    }[config.strategy]


def _consensus_calls(rounds: int, *, full: bool) -> tuple[int, int]:
    if full:
        return 2, 3 * rounds
    return (1, 1) if rounds == 1 else (2, 3 * rounds - 2)


def n_annotators(config: MMADConfig, dimensions: int) -> int:
    """Agents of stage 1, which is also how many debates there can be: one a dimension, a single
    one without stage 1."""
    return 1 if SKIP_PARTITION in config.skip_stages else dimensions


def call_bounds(config: MMADConfig, dimensions: int) -> tuple[int, int]:
    """(fewest, most) calls of a segment that needs any, D being the number of dimensions, 1
    without stage 1: D where no error is found; D + D * (most of a debate) + 1 where all are
    disputed, without the 1 when stage 3 is left out. A baseline takes as many calls as it has
    roles, whatever is found: gemba-mqm and gemba-da 1, eaprompt 2."""
    if is_baseline(config):
        calls = len(METHOD_FACTS[config.method].roles)
        return calls, calls
    agents = n_annotators(config, dimensions)
    judge = 0 if SKIP_JUDGE in config.skip_stages else 1
    return agents, agents + agents * debate_calls(config)[1] + judge
