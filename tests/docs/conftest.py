"""The demo's folder, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from karat.demo import demo_study, write_demo


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stories") / "karat-demo"
    write_demo(demo_study(), str(folder))
    return folder
