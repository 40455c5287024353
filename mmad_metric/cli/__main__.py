"""`python -m mmad_metric.cli`: the same as `mmad`."""

from __future__ import annotations

import sys

from mmad_metric.cli import main

sys.exit(main())
