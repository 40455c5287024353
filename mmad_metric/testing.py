"""A scripted model, for tests of whatever is built on this package: no server, no key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from mmad_metric.chat import ChatRequest, Reply, Usage
from mmad_metric.config import MMADConfig
from mmad_metric.pipeline import Method
from mmad_metric.session import Plan

Script = Callable[[ChatRequest], "str | Reply | Exception"]


class ScriptedChat:
    """A ChatModel that answers from a plain function of the request.

    The function gives the reply's text, a whole Reply, or an exception to raise. `requests`
    keeps what was asked, in order; `most_at_once` the largest number of calls in flight.
    """

    def __init__(self, script: Script, *, latency: float = 0.0) -> None:
        self.script = script
        self.latency = latency
        self.requests: list[ChatRequest] = []
        self.most_at_once = 0
        self._at_once = 0

    async def complete(self, request: ChatRequest) -> Reply:
        self.requests.append(request)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await asyncio.sleep(self.latency)
            answer = self.script(request)
        finally:
            self._at_once -= 1
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return answer
        return Reply(answer, model="scripted", usage=Usage(1, 100, 0, 10))

    def roles(self) -> list[str]:
        """The roles asked, in order."""
        return [request.role for request in self.requests]


def annotation(
    span: str, category: str, severity: str = "major", *, is_source_error: bool = False
) -> dict[str, Any]:
    """One annotation in the reply shape."""
    return {
        "error_span": span,
        "category": category,
        "severity": severity,
        "is_source_error": is_source_error,
    }


def reply_text(schema_name: str, annotations: Sequence[dict[str, Any]] = ()) -> str:
    """A well-formed reply of any schema, by its name; a consensus check says no, an
    interrogator asks something, counts are those of the annotations, a direct score takes them
    off 100."""
    if schema_name == "consensus_check":
        return '{"consistent": "no"}'
    if schema_name == "interrogation":
        return '{"questions": "Which words show it?"}'
    if schema_name in ("error_counts", "direct_assessment"):
        severities = [each["severity"] for each in annotations]
        minor = severities.count("minor")
        major = len(severities) - minor - severities.count("neutral")
        if schema_name == "error_counts":
            return json.dumps({"major": major, "minor": minor})
        return json.dumps({"score": max(0, 100 - 5 * major - minor)})
    values: dict[str, Any] = {}
    if schema_name == "debate_turn":
        values["argument"] = "I hold my position."
    if schema_name in ("final_judgement", "dimension_verdict"):
        values["analysis"] = "The errors are real."
    return json.dumps({**values, "annotations": list(annotations)}, ensure_ascii=False)


def scripted_method(script: Script | ScriptedChat, lp: str = "en-de", **options: Any) -> Method:
    """What `pipeline.rate_segment` and `runner.rate_segments` need, over a scripted model."""
    plan = Plan.of(MMADConfig.of(lp, **options))
    model = script if isinstance(script, ScriptedChat) else ScriptedChat(script)
    return Method(plan.config, plan.prompts, plan.scheme, model)
