"""What there is to say of the material that is shown beside segments."""

from __future__ import annotations

from collections.abc import Iterator

from mmad_metric.beside import Beside
from mmad_metric.session import Plan


def beside_notices(plan: Plan, beside: Beside) -> Iterator[str]:
    """Lines for stderr."""
    if plan.glossary is not None:
        yield f"glossary {plan.glossary.name}: {len(plan.glossary.terms)} terms"
    if beside.without_reference:
        one = beside.without_reference == 1
        yield (
            f"{beside.without_reference} row{'' if one else 's'} without a reference: rated "
            f"without {'it' if one else 'them'}"
        )
