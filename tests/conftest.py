"""What tests share: where the public research data is, and hypothesis' settings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "karat", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True, derandomize=True
)
settings.load_profile("karat")

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("KARAT_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture
def web2010() -> Path:
    """The TREC Web Track 2010 data with official scores."""
    folder = DATA / "web2010"
    if not folder.is_dir():
        pytest.skip(f"no {folder}: set KARAT_DATA to the folder with the research data")
    return folder


@pytest.fixture
def user_study() -> Path:
    """Jiang and Allan's sessions: lists, labels and ratings."""
    folder = DATA / "user-study"
    if not folder.is_dir():
        pytest.skip(f"no {folder}: set KARAT_DATA to the folder with the research data")
    return folder
