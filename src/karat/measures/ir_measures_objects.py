"""Measure objects of ir_measures, such as `ir_measures.ERR @ 20`, as the karat measures with the same values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from karat.errors import BadInput
from karat.measures.base import MEASURES, Measure

#: The highest grade of gdeval, which computes ERR for ir_measures.
GDEVAL_TOP_GRADE = 4


def is_ir_measures_object(measure: object) -> bool:
    """Whether this is a measure object of ir_measures; ir_measures itself is not loaded."""
    module = type(measure).__module__
    return module.partition(".")[0] == "ir_measures" and isinstance(getattr(measure, "params", None), Mapping)


def from_ir_measures(measure: Any) -> Measure:
    """Convert a measure object of ir_measures to the karat measure with the same values.

    Where ir_measures computes something else under a name that both share, the parameters are set so that the values
    agree, and `understood` says so. Where they cannot agree, `understood` says how they differ.

    Raises:
        BadInput: If karat has no such measure, or the measure is a function that was defined for ir_measures.
    """
    place = f"the measure {measure} of ir_measures"
    if hasattr(measure, "runtime_impl"):
        raise BadInput.at(
            place,
            expected="a measure that ir_measures ships",
            found="one that was defined in Python",
            remedy="register the function with karat.register_measure",
        )
    name = str(measure.NAME)
    if name not in MEASURES:
        raise BadInput.at(place, expected=f"one of {', '.join(MEASURES)}", found=f'"{name}"')
    cls = MEASURES[name]
    supported = measure.SUPPORTED_PARAMS
    given = {key: value for key, value in measure.params.items() if value != supported[key].default}
    given, notes = _translate(name, given)
    known = [field.name for field in fields(cls)]
    unknown = [key for key in given if key not in known]
    if unknown:
        expected = f"a parameter of {name} ({', '.join(key for key in known if key != 'cutoff') or 'it has none'})"
        raise BadInput.at(place, expected=expected, found=f'"{unknown[0]}"')
    made = cls(**given)
    if cls.needs_cutoff:
        _ = made.depth
    if notes:
        object.__setattr__(made, "understood", f"{measure} of ir_measures is read as {made}: {notes}")
    return made


def _translate(name: str, given: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The parameters in karat's terms, and what a reader should know about them."""
    if "dcg" in given:
        given = {key: value for key, value in given.items() if key != "dcg"} | (
            {"gains": "exp"} if given["dcg"] == "exp-log2" else {}
        )
    elif isinstance(given.get("gains"), Mapping):
        named = {int(grade): gain for grade, gain in given["gains"].items()}
        # A grade that is not named keeps its value, as in trec_eval.
        given = given | {"gains": {grade: grade for grade in range(max(named, default=0) + 1)} | named}
    match name:
        case "ERR":
            return given | {"max_rel": GDEVAL_TOP_GRADE}, "there the highest grade is always 4, as in gdeval"
        case "SetF" if "beta" in given:
            return given | {"beta": given["beta"] ** 0.5}, "beta there is the square of the textbook's, as in trec_eval"
        case "RBP" if "rel" not in given:
            return given, "documents are relevant from grade 1 on, which ir_measures leaves open; rel sets it"
        case "Judged":
            return given, "a label below 0 does not count as a judgment here, as in trec_eval; there it does"
        case "Compat":
            return given, "rankings are compared down to rank 1,000 here, and there down to the end of the longer one"
    return given, ""
