"""How hard the laws are tried: `ci` the same examples in every run, `long` more of them, at random."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings


def load() -> None:
    """Register the profiles and take the one that HYPOTHESIS_PROFILE names, `ci` by default."""
    relaxed = [HealthCheck.too_slow, HealthCheck.data_too_large]
    settings.register_profile("ci", max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=relaxed)
    settings.register_profile("long", max_examples=5000, deadline=None, suppress_health_check=relaxed)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
