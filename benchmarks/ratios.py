"""The ratios that `make bench` kept, day by day: python benchmarks/ratios.py draws docs/pictures/ratios.svg."""

from __future__ import annotations

import json
from pathlib import Path

HISTORY = Path(__file__).parent / "history"
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "ratios.svg"


def rows(folder: Path) -> list[dict[str, object]]:
    """How many times as long as karat each tool took, by day and race."""
    return [
        {"day": path.stem, "race": f"{race}: {tool}", "ratio": ratio["seconds"]}
        for path in sorted(folder.glob("????-??-??.json"))
        for race, tools in json.loads(path.read_text()).items()
        for tool, ratio in tools.items()
        if not tool.startswith("karat")
    ]


def draw(folder: Path, picture: Path) -> None:
    """The chart of all days that were kept."""
    import altair as alt

    base = alt.Chart(alt.Data(values=rows(folder))).encode(
        x=alt.X("day:O", title=None),
        y=alt.Y("ratio:Q", scale=alt.Scale(type="log"), title="times as long as karat"),
        color=alt.Color("race:N", title=None, legend=alt.Legend(labelLimit=400)),
    )
    (base.mark_line() + base.mark_point(filled=True)).properties(width=420, height=260).save(str(picture))


if __name__ == "__main__":
    draw(HISTORY, PICTURE)
