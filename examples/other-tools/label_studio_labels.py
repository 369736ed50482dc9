"""Annotations of Label Studio as labels: JSON as it is exported, and CSV as Label Studio's own converter writes it.

python examples/other-tools/label_studio_labels.py      (needs label-studio-converter)
"""

import json
from pathlib import Path

from label_studio_converter import Converter

import karat as kt

CONFIG = """
<View>
  <Text name="text" value="$text"/>
  <Choices name="relevance" toName="text"><Choice value="0"/><Choice value="1"/><Choice value="2"/></Choices>
</View>
"""


def annotation(number: int, grade: str, judge: int, *, cancelled: bool = False) -> dict[str, object]:
    """One judge's answer, as Label Studio keeps it."""
    chosen = {"from_name": "relevance", "to_name": "text", "type": "choices", "value": {"choices": [grade]}}
    return {
        "id": number,
        "completed_by": judge,
        "result": [] if cancelled else [chosen],
        "was_cancelled": cancelled,
        "lead_time": 4.5,
        "created_at": "2024-03-09T22:16:08.728353Z",
        "updated_at": "2024-03-09T22:16:08.728353Z",
    }


tasks = [
    {
        "id": number,
        "data": {"query_id": "q1", "docid": doc, "text": f"The text of {doc}"},
        "annotations": [annotation(10 * number + judge, grade, judge) for judge, grade in enumerate(grades, 1)],
    }
    for number, (doc, grades) in enumerate({"d1": ["2", "2"], "d2": ["0", "1"], "d3": ["1", "1"]}.items(), 1)
]
tasks[0]["annotations"] += [annotation(99, "", 3, cancelled=True)]  # type: ignore[operator]

Path("export.json").write_text(json.dumps(tasks))
Converter(CONFIG, str(Path.cwd())).convert_to_csv("export.json", "csv", is_dir=False, sep=",", header=True)
by_json, by_csv = kt.read_judgments("export.json"), kt.read_judgments("csv/result.csv")
print(by_json)
print(*by_json.notes, sep="\n")
columns = ["query", "doc", "label", "judge", "seconds"]
print("the same from CSV:", by_csv.frame.select(columns).sort("doc", "judge").equals(by_json.frame.select(columns)))
