"""One wheel of this package for all tests that need one: building takes seconds."""

from __future__ import annotations

import pytest

from mmad_metric.hub.wheel import package_wheel


@pytest.fixture(scope="session")
def wheel() -> tuple[str, bytes]:
    """(file name, content), built from this checkout."""
    pytest.importorskip("build")
    return package_wheel()
