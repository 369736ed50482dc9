"""How good is one ranking? One family of measures a file, all queries and systems at once."""

from karat.measures.base import MEASURES, Measure, measure
from karat.measures.binary import AP, RR, Judged, P, R, Rprec, Success
from karat.measures.cascade import ERR, RBP, RBP_residual
from karat.measures.custom import register_measure
from karat.measures.diverse import (
    AP_IA,
    ERR_IA,
    NRBP,
    P_IA,
    StRecall,
    alpha_DCG,
    alpha_nDCG,
    nERR_IA,
    nNRBP,
)
from karat.measures.gains import Gains, udm
from karat.measures.graded import CCG, CG, DCG, GAP, CCG_single, nDCG
from karat.measures.linear import Linear, is_linear
from karat.measures.lists import Lists, match
from karat.measures.parse import about, as_measures, parse_measure
from karat.measures.pooled import Bpref, infAP
from karat.measures.profile import PROFILES, Profile, profile_named
from karat.measures.topics import Topics

__all__ = [
    "AP",
    "AP_IA",
    "CCG",
    "CG",
    "DCG",
    "ERR",
    "ERR_IA",
    "GAP",
    "MEASURES",
    "NRBP",
    "PROFILES",
    "P_IA",
    "RBP",
    "RR",
    "Bpref",
    "CCG_single",
    "Gains",
    "Judged",
    "Linear",
    "Lists",
    "Measure",
    "P",
    "Profile",
    "R",
    "RBP_residual",
    "Rprec",
    "StRecall",
    "Success",
    "Topics",
    "about",
    "alpha_DCG",
    "alpha_nDCG",
    "as_measures",
    "infAP",
    "is_linear",
    "match",
    "measure",
    "nDCG",
    "nERR_IA",
    "nNRBP",
    "parse_measure",
    "profile_named",
    "register_measure",
    "udm",
]
