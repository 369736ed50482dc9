"""Other names for the same measures: those of other tools, in any case, and those of papers, which a note explains."""

from __future__ import annotations

import re

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
