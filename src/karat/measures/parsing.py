"""Reading a measure's name: ir_measures' spelling, and the names of other tools and papers (`names.py`)."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from karat.advice import advise
from karat.errors import BadInput
from karat.measures.base import MEASURES, Measure, MeasureType
from karat.measures.gains import Gains, udm
from karat.measures.ir_measures_objects import from_ir_measures, is_ir_measures_object
from karat.records.scale import ONE_USER

#: Names of trec_eval, ranx, PyTerrier and ir_measures, in small letters with _ for -, and karat's spelling.
TOOLS = {
    "map": "AP",
    "average_precision": "AP",
    "mrr": "RR",
    "recip_rank": "RR",
    "reciprocal_rank": "RR",
    "precision": "P",
    "recall": "R",
    "r_precision": "Rprec",
    "hit_rate": "Success",
    "f1": "F",
    "gm_map": "GMAP",
    "gm_ap": "GMAP",
    "set_p": "SetP",
    "set_recall": "SetR",
    "set_f": "SetF",
    "num_q": "NumQ",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "11pt_avg": "IAP",
    "ndcg_burges": "nDCG(gains='exp')",
    "dcg_burges": "DCG(gains='exp')",
    "map_ia": "AP_IA",
    "\u03b1_ndcg": "alpha_nDCG",
    "\u03b1_dcg": "alpha_DCG",
    "strec": "StRecall",
    "d#_ndcg": "Dsharp_nDCG",
    "compatibility": "Compat",
}

#: Names from papers that people type because they read them, and what they mean there.
PAPERS = {
    "cr": ("StRecall", "cluster recall, the share of the subtopics covered"),
    "cluster_recall": ("StRecall", "the share of the subtopics covered"),
    "s_recall": ("StRecall", "subtopic recall"),
    "subtopic_recall": ("StRecall", "the share of the subtopics covered"),
    "i_rec": ("StRecall", "intent recall, the share of the subtopics covered"),
    "ia_pc": ("P_IA", "intent-aware precision"),
    "ia_p": ("P_IA", "intent-aware precision"),
    "prec_ia": ("P_IA", "intent-aware precision"),
    "ia_map": ("AP_IA", "intent-aware average precision"),
    "ia_err": ("ERR_IA", "intent-aware expected reciprocal rank"),
    "pc": ("P", "precision"),
}

#: trec_eval's names with a number behind _ or a dot, such as ndcg_cut_10 and iprec_at_recall_0.10.
NUMBERED = {
    "ndcg_cut": "nDCG@{}",
    "map_cut": "AP@{}",
    "p": "P@{}",
    "recall": "R@{}",
    "success": "Success@{}",
    "iprec_at_recall": "IPrec@{}",
    "set_f": "SetF(beta={}**0.5)",
}
_NUMBERED = re.compile(rf"({'|'.join(NUMBERED)})[_.](\d+(?:\.\d+)?)", re.IGNORECASE)
#: A paper's cutoff in brackets, P(10), and ranx's persistence behind a dot, rbp.95.
_BRACKETS = re.compile(r"([\w#-]+)\((\d+)\)")
_PERSISTENCE = re.compile(r"rbp\.(\d+)", re.IGNORECASE)

#: The cutoffs of trec_eval where none are named.
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_RECALLS = [f"IPrec@{tenth / 10}" for tenth in range(11)]
_COUNTS = ["NumQ", "NumRet", "NumRel", "NumRelRet"]
_OFFICIAL = ["AP", "GMAP", "Rprec", "Bpref", "RR", *_RECALLS]
#: trec_eval's sets of measures, which stand for all of theirs that karat has; the counts come last.
SETS = {
    "official": [*_OFFICIAL, *(f"P@{k}" for k in CUTOFFS), *_COUNTS],
    "set": ["SetP", "SetR", "SetF", *_COUNTS],
    "all_trec": [
        *_OFFICIAL,
        *(f"{name}@{k}" for name in ("P", "R") for k in CUTOFFS),
        *("infAP", "gm_Bpref", "IAP", "nDCG"),
        *(f"{name}@{k}" for name in ("nDCG", "AP") for k in CUTOFFS),
        *("Success@1", "Success@5", "Success@10", "SetP", "SetR", "SetF"),
        *_COUNTS,
    ],
}


def split_names(text: str, separators: str = ",") -> list[str]:
    """The names of measures in a text, which separators divide where they are not inside brackets.

    >>> split_names("nDCG(gains={0:0,1:3})@10, AP, P.5,10")
    ['nDCG(gains={0:0,1:3})@10', 'AP', 'P.5', 'P.10']

    A text without a name is the one name that it is, for the error that names it.
    """
    parts, depth = [""], 0
    for letter in text:
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter in separators and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    names: list[str] = []
    for part in map(str.strip, parts):
        # trec_eval's P.5,10 asks for P.5 and P.10.
        if part.isdigit() and names and "." in names[-1]:
            part = f"{names[-1].rpartition('.')[0]}.{part}"
        names += [part] if part else []
    return names or [text]


def spelled(text: str) -> tuple[str, str]:
    """A measure in karat's spelling as far as a name's form tells it, and what to say of it, if anything.

    >>> spelled("ndcg_cut_10"), spelled("rbp.95"), spelled("P(10)")
    (('nDCG@10', ''), ('RBP(p=0.95)', ''), ('P@10', 'the number in brackets is a cutoff'))
    """
    text = text.strip()
    if found := _NUMBERED.fullmatch(text):
        name, number = found[1].lower(), float(found[2])
        if name == "set_f":
            return f"SetF(beta={number**0.5:g})", ""
        whole = number.is_integer() and name != "iprec_at_recall"
        return NUMBERED[name].format(int(number) if whole else number), ""
    if found := _PERSISTENCE.fullmatch(text):
        return f"RBP(p=0.{found[1]})", ""
    if found := _BRACKETS.fullmatch(text):
        return f"{found[1]}@{found[2]}", "the number in brackets is a cutoff"
    return text, ""


def meant(name: str) -> tuple[str, str]:
    """The measure that another tool's or a paper's name means, none where it is unknown, and what to say of it."""
    key = name.lower().replace("-", "_")
    if key in TOOLS:
        return TOOLS[key], ""
    return PAPERS.get(key, ("", ""))


#: As long as a name may be, and as much of it as an error shows.
LONGEST, SHOWN = 10_000, 80


def parse_measure(text: str) -> Measure:
    """The measure that a name means.

    >>> parse_measure("nDCG(gains='exp')@10")
    nDCG(gains='exp')@10
    >>> parse_measure("ndcg_cut_10"), parse_measure("recip_rank"), parse_measure("mrr@10"), parse_measure("F1@5")
    (nDCG@10, RR, RR@10, F@5)

    What a name from a paper is read as is kept with the measure, for the notes:

    >>> parse_measure("CR@10").understood
    'CR@10 is read as StRecall@10: cluster recall, the share of the subtopics covered'
    """
    try:
        return _read(text)
    except RecursionError:  # signs or fractions without end
        raise _unreadable(text) from None


def _read(text: str) -> Measure:
    if len(text) > LONGEST:
        raise _unreadable(text)
    plain, why = spelled(text)
    start = re.match(r"[\w#-]+", plain)
    name, rest = (start[0], plain[start.end() :]) if start else ("", plain)
    # Only the parameters and the cutoff are left to read: the name may have letters that Python's has not.
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # what looks odd to Python is refused further down
            node: ast.expr = ast.parse(f"_{rest}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unreadable(text) from None
    cutoff: Any = None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        cutoff, node = _value(node.right, text), node.left
    keywords: list[ast.keyword] = []
    if isinstance(node, ast.Call):
        if node.args:
            raise _unreadable(text)
        keywords, node = node.keywords, node.func
    if not name or not (isinstance(node, ast.Name) and node.id == "_"):
        raise _unreadable(text)
    cls, given, note = _named(name, text)
    given |= _parameters(cls, keywords, text)
    measure = cls(**given)
    if cutoff is not None:
        measure = measure @ cutoff
    if cls.needs_cutoff:
        _ = measure.depth
    if said := "; ".join(part for part in (note, why) if part):
        object.__setattr__(measure, "understood", f"{text.strip()} is read as {measure}: {said}")
    return measure


def _parameters(cls: type[Measure], keywords: list[ast.keyword], text: str) -> dict[str, Any]:
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
    return given


def as_measures(measures: object) -> list[Measure]:
    """Measures from one or many names or values, each once, in the order given; a name may be several with commas.

    >>> as_measures("P@10, nDCG(gains={0:0,1:3})@10")
    [P@10, nDCG(gains={0:0,1:3})@10]
    """
    if isinstance(measures, str):
        measures = split_names(measures)
    if isinstance(measures, Measure | MeasureType) or is_ir_measures_object(measures):
        measures = [measures]
    if not isinstance(measures, Iterable) or isinstance(measures, Mapping):
        raise BadInput.at("the measures", expected="names such as nDCG@10", found=_cut(repr(measures)))
    each = (name for m in measures for name in (split_names(m) if isinstance(m, str) else [m]))
    named = (SETS.get(m.lower(), [m]) if isinstance(m, str) else [m] for m in each)
    return list(dict.fromkeys(_as_measure(measure) for some in named for measure in some))


def at_level(measures: Sequence[Measure], level: float) -> list[Measure]:
    """The measures with documents relevant from this grade on, as trec_eval's -l; those that name a grade keep it.

    >>> at_level(as_measures(["P@5", "RR(rel=1)", "nDCG@10"]), 2)
    [P(rel=2)@5, RR(rel=1), nDCG@10]
    """
    if not any(_takes_level(measure) for measure in measures):
        names = ", ".join(map(str, measures))
        raise BadInput.at("the relevance level", expected="a measure of relevant or not, as P@10 or AP", found=names)
    level = int(level) if level == int(level) else level
    return [measure.varied(rel=level) if _takes_level(measure) else measure for measure in measures]


def _takes_level(measure: Measure) -> bool:
    own = {field.name: field.default for field in fields(measure)}
    return own.get("rel") is not None and "rel" not in measure._given


def _as_measure(measure: object) -> Measure:
    if isinstance(measure, MeasureType):
        measure = measure()
    if isinstance(measure, Measure):
        if measure.needs_cutoff:
            _ = measure.depth
        return measure
    if isinstance(measure, str):
        return parse_measure(measure)
    if is_ir_measures_object(measure):
        return from_ir_measures(measure)
    found = f"{_cut(repr(measure))}, a {type(measure).__name__}"
    raise BadInput.at("the measures", expected="names such as nDCG@10", found=found)


def _named(name: str, text: str) -> tuple[type[Measure], dict[str, Any], str]:
    """The measure of this name, the parameters that the name stands for, and what to say of it."""
    plain = name.replace("-", "_")
    for known in (name, plain):
        if known.isidentifier() and known in MEASURES:
            return MEASURES[known], {}, ""
    target, note = meant(name)
    if target:
        start, _, parameters = target.partition("(")
        call = ast.parse(f"_({parameters}" if parameters else "_()", mode="eval").body
        assert isinstance(call, ast.Call)
        return MEASURES[start], {word.arg or "": _value(word.value, text) for word in call.keywords}, note
    lower = {spelling.lower(): spelling for spelling in MEASURES}
    if plain.lower() in lower:
        return MEASURES[lower[plain.lower()]], {}, ""
    every = advise("karat measures", "list(karat.measures.MEASURES)")
    raise BadInput(f'there is no measure "{name}"; {_near(plain, lower)}{every} lists all')


def _near(name: str, known: dict[str, str]) -> str:
    """What a name that is none comes near to; a cutoff that lost its sign, as in nDCG10, gets it back."""
    import difflib

    start = name.rstrip("0123456789")
    if start != name and (start.lower() in known or meant(start)[0]):
        return f"did you mean {known.get(start.lower(), start)}@{name[len(start) :]}? "
    near = difflib.get_close_matches(name.lower(), [*known, *TOOLS], n=1, cutoff=0.6)
    return f"did you mean {known.get(near[0], near[0])}? " if near else ""


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
    zero, known = bool(options.get("zero", False)), not options.keys() - {"zero"}
    match node.args:
        case [ast.BinOp(op=ast.Div(), left=ast.Constant(value=int(some)), right=ast.Constant(value=int(all_users)))]:
            if known and all_users:
                return udm(some, all_users, zero=zero)
        case [ast.Name(id="user")] if known:
            return udm(*ONE_USER, zero=zero)
    expected = "udm(M/N), such as udm(1/3), udm(M/N,zero=True), or udm(user)"
    raise BadInput.at(f'the measure "{text}"', expected=expected, found=ast.unparse(node))


def _number(node: ast.expr | None, text: str) -> float:
    value = None if node is None else _value(node, text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _unreadable(text)
    return value


def _unreadable(text: str) -> BadInput:
    found = _cut(text)
    return BadInput.at("the measure", expected="a name such as nDCG@10 or P(rel=2)@5", found=f'"{found}"')


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def about(measure: type[Measure]) -> str:
    """A measure's one-sentence meaning: the first line of its docstring."""
    return (inspect.getdoc(measure) or "").partition("\n")[0]
