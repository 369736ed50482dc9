"""Reading a measure's name: ir_measures' spelling, and trec_eval's names for those who have them in their fingers."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from karat.errors import BadInput
from karat.measures.base import MEASURES, Measure, MeasureType
from karat.measures.gains import Gains, udm

#: Other names for the same measures, here and in ir_measures.
ALIASES = {
    "NDCG": "nDCG",
    "MAP": "AP",
    "MRR": "RR",
    "Precision": "P",
    "Recall": "R",
    "RPrec": "Rprec",
    "BPref": "Bpref",
    "bpref": "Bpref",
    "MAP_IA": "AP_IA",
    "\u03b1_nDCG": "alpha_nDCG",
    "\u03b1_DCG": "alpha_DCG",
    "ndcg": "nDCG",
    "strec": "StRecall",
    "map": "AP",
    "recip_rank": "RR",
}

#: trec_eval's names with a cutoff, such as ndcg_cut_10.
TREC_EVAL = {"ndcg_cut": "nDCG", "map_cut": "AP", "P": "P", "recall": "R", "success": "Success"}


def parse_measure(text: str) -> Measure:
    """The measure that a name means.

    >>> parse_measure("nDCG(gains='exp')@10")
    nDCG(gains='exp')@10
    >>> parse_measure("ndcg_cut_10"), parse_measure("recip_rank"), parse_measure("MAP@100")
    (nDCG@10, RR, AP@100)
    """
    spelled = text.strip()
    trec = re.fullmatch(rf"({'|'.join(TREC_EVAL)})[_.](\d+)", spelled)
    if trec:
        spelled = f"{TREC_EVAL[trec[1]]}@{trec[2]}"
    start = re.match(r"[\w-]+", spelled)
    if start and "-" in start[0]:  # ndeval's names: alpha-nDCG@10, ERR-IA@20
        spelled = start[0].replace("-", "_") + spelled[start.end() :]
    try:
        node: ast.expr = ast.parse(spelled, mode="eval").body
    except SyntaxError:
        raise _unreadable(text) from None
    cutoff: Any = None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        cutoff, node = _value(node.right, text), node.left
    keywords: list[ast.keyword] = []
    if isinstance(node, ast.Call):
        if node.args:
            raise _unreadable(text)
        keywords, node = node.keywords, node.func
    if not isinstance(node, ast.Name):
        raise _unreadable(text)
    cls = _named(node.id)
    known = [field.name for field in fields(cls) if field.name != "cutoff"]
    given: dict[str, Any] = {}
    for keyword in keywords:
        name, value = keyword.arg or "", _value(keyword.value, text)
        if name == "dcg" and "gains" in known and value in ("log2", "exp-log2"):
            # ir_measures' way to say it: log2 is the plain gain, exp-log2 the exponential one.
            name, value = "gains", "exp" if value == "exp-log2" else "identity"
        if name not in known:
            expected = f"a parameter of {cls.__name__} ({', '.join(known) or 'it has none'})"
            raise BadInput.at(f'the measure "{text}"', expected=expected, found=f'"{name}"')
        if name in given:
            raise BadInput.at(f'the measure "{text}"', expected=f"{name} once", found="it again")
        given[name] = value
    measure = cls(**given)
    if cutoff is not None:
        measure = measure @ cutoff
    if cls.needs_cutoff:
        _ = measure.depth
    return measure


def as_measures(measures: object) -> list[Measure]:
    """Measures from one or many names or values, each once, in the order given."""
    if isinstance(measures, str | Measure | MeasureType):
        measures = [measures]
    if not isinstance(measures, Iterable):
        raise BadInput.at("the measures", expected="names such as nDCG@10", found=repr(measures))
    return list(dict.fromkeys(_as_measure(measure) for measure in measures))


def _as_measure(measure: object) -> Measure:
    if isinstance(measure, MeasureType):
        measure = measure()
    if isinstance(measure, Measure):
        if measure.needs_cutoff:
            _ = measure.depth
        return measure
    if isinstance(measure, str) or type(measure).__module__.startswith("ir_measures"):
        return parse_measure(str(measure))
    found = f"{measure!r}, a {type(measure).__name__}"
    raise BadInput.at("the measures", expected="names such as nDCG@10", found=found)


def _named(name: str) -> type[Measure]:
    known = ALIASES.get(name, name)
    if known in MEASURES:
        return MEASURES[known]
    import difflib

    lower = {spelling.lower(): spelling for spelling in [*ALIASES, *MEASURES]}
    near = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    hint = f"did you mean {lower[near[0]]}?" if near else f"known: {', '.join(MEASURES)}"
    raise BadInput(f'there is no measure "{name}"; {hint}')


def _value(node: ast.expr, text: str) -> Any:
    """A parameter's value: a number, a fraction, a word, a list or a mapping."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return {"true": True, "false": False}.get(name, name)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return tuple(_value(item, text) for item in items)
        case ast.Call(func=ast.Name(id="udm")):
            return _udm(node, text)
        case ast.UnaryOp(op=ast.USub(), operand=number):
            return -_number(number, text)
        case ast.BinOp(op=ast.Div(), left=above, right=below) if _number(below, text):
            return _number(above, text) / _number(below, text)
        case ast.Dict(keys=keys, values=values):
            return {_number(k, text): _number(v, text) for k, v in zip(keys, values, strict=True)}
    raise _unreadable(text)


def _udm(node: ast.Call, text: str) -> Gains:
    """Weights from user disagreement: udm(1/3), the fraction kept as M of N."""
    options = {keyword.arg: _value(keyword.value, text) for keyword in node.keywords}
    match node.args:
        case [ast.BinOp(op=ast.Div(), left=ast.Constant(value=int(some)), right=ast.Constant(value=int(all_users)))]:
            if not options.keys() - {"zero"}:
                return udm(some, all_users, zero=bool(options.get("zero", False)))
    expected = "udm(M/N), such as udm(1/3), or udm(M/N,zero=True)"
    raise BadInput.at(f'the measure "{text}"', expected=expected, found=ast.unparse(node))


def _number(node: ast.expr | None, text: str) -> float:
    value = None if node is None else _value(node, text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _unreadable(text)
    return value


def _unreadable(text: str) -> BadInput:
    return BadInput.at("the measure", expected="a name such as nDCG@10 or P(rel=2)@5", found=f'"{text}"')


def about(measure: type[Measure]) -> str:
    """A measure's one-sentence meaning: the first line of its docstring."""
    return (inspect.getdoc(measure) or "").partition("\n")[0]
