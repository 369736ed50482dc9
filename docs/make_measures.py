"""Write docs/measures.md from the measures' own docstrings: python docs/make_measures.py."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path

from karat.measures import MEASURES, Measure
from karat.measures import rank_order as profiles

HEAD = """# Measures

<!-- Made from the docstrings by docs/make_measures.py; a test holds it up to date. -->

A measure is written `name(parameter=value,...)@cutoff`, as in ir_measures: `nDCG@10`, `P(rel=2)@5`,
`nDCG(gains='exp')@20`, `nDCG(gains={0:0,1:0.3,2:1})@10`. Everywhere: grades below 0 are worth nothing; a document
without a label counts as not relevant; ties in score go to the larger doc id; labels may be real numbers.
`judged_only=True` takes documents that nobody judged out of the list first.

Where ir_measures (0.4.3) gives another value under the same name:

- **ERR**: the highest grade is that of the labels or the scale; there always 4, as in gdeval (`ERR(max_rel=4)`).
- **Judged**: a label below 0 is no judgment, as in trec_eval; there it is one.
- **RBP**: relevant from grade 1 on, unless `rel` or `gains` say otherwise; there graded, unless `rel` is given.
- **SetF**: the beta of textbooks; there its square, as in trec_eval.
- **Compat**: down to rank 1,000, or k, as in the authors' program; there to the end of the longer of ranking and ideal.
- **Ties in score**: the larger doc id first, as in trec_eval; there the smaller one first for RR with a cutoff, Compat
  and the diversity measures, and the larger one for the others. A note says where doc ids decided.

In Python, ir_measures' own measure objects keep ir_measures' values of ERR and SetF: `ir_measures.ERR @ 20` is read as
`ERR(max_rel=4)@20`, and `ir_measures.SetF(beta=2.0)` as `SetF(beta=2**0.5)`; of Judged, RBP and Compat a note says how
karat differs.

**Other names** are understood, in any case: trec_eval's `map`, `ndcg_cut_10`, `P_10`, `recall_100`, `recip_rank`,
`gm_map`, `iprec_at_recall_0.10`, `11pt_avg`, `set_F`, `num_rel_ret`, also with dots; ranx's `mrr@10`, `recall@100`,
`f1@5`, `hit_rate@5`, `r-precision`, `ndcg_burges@10`, `rbp.95`; ndeval's `alpha-nDCG@10`, `ERR-IA@20`, `strec@10`;
those of ir_measures and so PyTerrier. Names from papers (`CR@10`, `IA-PC@10`, `I-rec@10`, `P(10)`) are, too, and a note
says as what. **Sets** of trec_eval, `official`, `set` and `all_trec`, stand for the measures of theirs that are below;
`karat score --all` asks for the last. `-l 2` makes documents relevant from grade 2 on, for every measure of relevant or
not that names no `rel`. Without: `relative_P`, `Rprec_mult`, `G`, `binG`, `ndcg_rel`, `Rndcg`, `utility`, `set_map`,
`num_nonrel_judged_ret`, `relstring`.
"""


def section(name: str, measure: type[Measure]) -> str:
    """One measure's part of the page."""
    doc = inspect.getdoc(measure) or ""
    meaning = "\n\n".join(part for part in doc.split("\n\n") if not part.startswith(">>>"))
    cutoff = "@k" if measure.needs_cutoff else "" if measure.never_cut else ", or with @k"
    given = [f"`{f.name}={f.default!r}`" for f in fields(measure) if f.name != "cutoff"]
    return f"## {name}\n\n`{name}`{cutoff}. Parameters: {', '.join(given) or 'none'}.\n\n{meaning}\n"


def page() -> str:
    """The whole page."""
    table = (profiles.__doc__ or "").partition("\n")[2].strip()
    parts = [section(name, measure) for name, measure in MEASURES.items()]
    return "\n".join([HEAD, *parts, f"## Profiles\n\n`--profile` does as a tool does where tools differ.\n\n{table}\n"])


if __name__ == "__main__":
    (Path(__file__).parent / "measures.md").write_text(page())
