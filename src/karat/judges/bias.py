"""Where do judges go wrong? A search for the slices of the data on which a group errs otherwise than on the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.features import FEATURES
from karat.judges.jackknife import Judges, sampled_groups
from karat.judges.sides import Side, Slice, both_sides, own_columns
from karat.judges.slices import called, does, features_of, listed_features, sentence
from karat.labels import GOLD, Panel
from karat.records import LabelsLike, Result
from karat.records.number_format import p_said, percent
from karat.records.table import count
from karat.stats import totals
from karat.stats.arrays import Bools, Floats, Ints, distinct
from karat.stats.cluster_robust import Differences, Variance, clustered_differences
from karat.stats.multiple_testing import benjamini_hochberg

SCHEMA: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(["family", "group", "against", "kind", "slice"], pl.String),
    **dict.fromkeys(["effect", "low", "high", "p", "p_bh", "inside", "outside"], pl.Float64),
    **dict.fromkeys(["n", "n_pairs", "n_queries"], pl.Int64),
    **dict.fromkeys(["feature", "value", "feature_2", "value_2"], pl.String),
    "found": pl.Boolean,
    "because_of": pl.String,
}


def row_of(s: Slice) -> dict[str, Any]:
    """The slice with its figures, by column."""
    figures = ("effect", "low", "high", "p", "p_bh", "inside", "outside", "n", "n_pairs", "n_queries")
    parts = [(feature, s.side.names[feature][value]) for feature, value in s.where] + [(None, None)]
    return {
        **{name: getattr(s.side, name) for name in ("group", "against", "kind")},
        "slice": words_of(s),
        **{name: getattr(s, name) for name in figures},
        **dict(zip(("feature", "value", "feature_2", "value_2"), (*parts[0], *parts[1]), strict=True)),
    }


def finding_of(s: Slice, level: float) -> str:
    """A finding as a sentence: the effect at the same gold grade, then the raw means inside and outside."""
    group, size = s.side.group, abs(s.effect)
    of = f"{count(s.n_pairs, 'pair')} of {count(s.n_queries, 'query', 'queries')}"
    tested = f"adjusted {p_said(s.p_bh)}"
    if s.side.kind == "noise":
        less = "less" if s.effect < 0 else "more"
        ends = f"[{100 * (size - s.reach):.0f}, {100 * (size + s.reach):.0f}]"
        return (
            f"{called(group)} {does(group, 'be')} right {less} often on {words_of(s)}, by {100 * size:.0f} percentage "
            f"points at the same gold grade ({100 * level:g}% CI {ends}, {tested}; over all grades "
            f"{percent(s.inside)} right inside and {percent(s.outside)} outside; {of})"
        )
    way = "higher" if s.effect > 0 else "lower"
    interval = f"{100 * level:g}% CI [{size - s.reach:.2f}, {size + s.reach:.2f}], {tested}"
    rates = f"{called(group)} {does(group, 'rate')} {words_of(s)} {size:.2f} of a grade {way} than the rest"
    if s.side.against != GOLD:
        means = f"over all grades the mean difference is {s.inside:+.2f} inside and {s.outside:+.2f} outside"
        return f"against {called(s.side.against)}, {rates} at the same average grade ({interval}; {means}; {of})"
    means = f"over all grades the mean error is {s.inside:+.2f} inside and {s.outside:+.2f} outside"
    return f"{rates} at the same gold grade ({interval}; {means}; {of})"


def words_of(s: Slice) -> str:
    """The slice as a sentence names it: Wikipedia pages for queries of 5 or more words."""
    named, plain = list[tuple[str, str]](), list[str]()
    for feature, value in s.where:
        name = s.side.names[feature][value]
        known = FEATURES.get(feature)
        if known is None:
            plain.append(f"{feature} {name}")
        elif isinstance(known.reads, str):
            named.append((known.of, known.reads.format(name).replace(" 1 words", " 1 word")))
        else:
            named.append((known.of, known.reads[name == "false" or name[:1] == "n"]))
    named.sort(key=lambda part: part[0])
    words = " ".join(part[1] for part in named[:1]) or "pairs"
    if len(named) > 1:
        words += f" {'among' if named[0][0] == named[1][0] else 'for'} {named[1][1]}"
    return f"{words} with {' and '.join(plain)}" if plain else words


#: A table of queries x slices is worked on in parts of this size.
AT_ONCE = 4_000_000
#: A difference that is rounding.
NOTHING = 1e-12

#: Features whose slices are tested first, as a family of their own: which system retrieves the document.
PRIMARY = ("shown_by",)
#: The columns that are displayed.
COLUMNS = ("family", "group", "against", "kind", "slice", "effect", "inside", "outside", "n_pairs", "p_bh")


def find_bias(
    labels: Panel | LabelsLike,
    features: Sequence[str] | None = None,
    *,
    primary: Sequence[str] = PRIMARY,
    gold: LabelsLike | None = None,
    judges: Judges = "sample",
    min_pairs: int = 30,
    min_queries: int = 10,
    q: float = 0.05,
    level: float = 0.95,
    everything: bool = False,
) -> Result:
    """Find the kinds of queries and documents on which a group of judges errs in one direction, or more often.

    >>> rng = np.random.default_rng(0)
    >>> rows = [{"query": f"q{i % 60}", "doc": f"d{i}", "wikipedia": "WP" if i % 3 else "nWP", "group": group,
    ...          "label": (i % 4) + (group == "crowd") * (i % 3 > 0) * float(rng.random() < 0.8)}
    ...         for i in range(600) for group in ("gold", "crowd")]
    >>> find_bias(rows).finding[:87]
    'Exploration: the crowd rates Wikipedia pages 0.81 of a grade higher than the rest at th'

    A slice is every value of a feature (numbers are cut into four ranges) and every pair of values of two features,
    with at least `min_pairs` query-document pairs and `min_queries` queries inside and outside.

    `effect` compares documents of the same gold grade inside and outside the slice, so that judges who avoid the ends
    of the scale do not appear to underrate whatever is mostly good. `inside` and `outside` are the raw means, at
    whatever grades the documents have: the mean error (`kind` bias), or the share of labels that equal gold (`kind`
    noise). Raw means and effect can differ in sign. Without gold, groups are compared with each other on the pairs that
    both labelled, at the same average grade. Errors are clustered by query and, where `judges` are a sample, by judge.

    The slices of the `primary` features are chosen before looking at the data: which system retrieves the document.
    They are a `family` of tests of their own. All other slices are `exploration`. In each family `p_bh` is adjusted by
    Benjamini and Hochberg's procedure, and a slice is `found` if and only if its `p_bh` is at most `q`. In data without
    any bias, a family has a finding in one study of twenty at most. A slice that only repeats another (Wikipedia pages
    for long queries, when it is all Wikipedia pages; or more errors where a group overrates) has no `p_bh`, and
    `because_of` names the other slice. With `everything` the frame has all slices tested. A finding is a difference,
    not its cause.

    Args:
        labels: Judgments of one or more groups.
        features: The columns to search; all columns that are not karat's own where none are named.
        primary: Features whose slices were chosen before looking at the data, where the labels have them.
        gold: Gold labels, unless they are the group gold of the labels.
        judges: Whether the judges are a sample of judges like them, or fixed.
        min_pairs: The fewest query-document pairs inside and outside a slice.
        min_queries: The fewest queries inside and outside a slice.
        q: The false discovery rate of each family.
        level: The confidence level of the intervals, which are not adjusted for multiple testing.
        everything: Whether the frame has all slices tested, or the findings and what repeats them.

    Reference: Kazai et al. (CIKM 2012), future work; Benjamini and Hochberg (JRSS B 1995); Cameron, Gelbach and Miller
    (Journal of Business and Economic Statistics 2011).
    """
    panel = Panel.of(labels, gold, apart=listed_features(features))
    names = features_of(panel, features) if features is not None else own_columns(panel)
    if min_pairs < 2 or min_queries < 3 or not 0 < q < 1 or not 0 < level < 1:
        raise BadInput.at(
            "the search",
            expected="2 pairs and 3 queries or more; q and level as shares",
            found=f"{min_pairs} pairs, {min_queries} queries, q {q}, level {level}",
        )
    sampled, about = sampled_groups(panel, judges)
    sides, drawn = both_sides(panel, names, sampled)
    notes = [*panel.notes, *drawn, *about]
    found = [slice_ for side in sides for slice_ in _looked_at(side, min_pairs, min_queries, level)]
    if not found:
        raise Undefined(
            f"no slice has {min_pairs} pairs of {min_queries} queries inside and outside, and judges enough on either "
            "side for an interval; ask for fewer"
        )
    chosen = [is_primary(s, primary) for s in found]
    families = {
        "primary": [i for i, first in enumerate(chosen) if first],
        "exploration": [i for i, first in enumerate(chosen) if not first],
    }
    settled, said, because = list[int](), list[str](), dict[int, int]()
    adjusted = np.full(len(found), np.nan)
    for family, members in families.items():
        tests = _standing(members, found, q, settled)
        settled += tests.kept
        because |= tests.because
        for i, p in tests.adjusted.items():
            adjusted[i] = p
        label = "Exploration: " if family == "exploration" else ""
        said += [label + finding_of(replace(found[i], p_bh=float(adjusted[i])), level) for i in tests.kept]
        if members and family == "primary" and not tests.kept:
            size = count(_different(found, members), "primary slice")
            said.append(f"no significant bias in {size} ({', '.join(primary)})")
    against = "gold" if sides[0].against == GOLD else "each other"
    searched = " for bias and for noise" if panel.has_gold else ""
    sizes = [count(_different(found, families["primary"]), "primary slice")] if families["primary"] else []
    sizes.append(f"{count(_different(found, families['exploration']), 'slice')} in exploration")
    notes.append(
        f"{' and '.join(sizes)}, of {count(len(names), 'feature')}, tested{searched}, with at least {min_pairs} pairs "
        f"and {min_queries} queries; groups against {against}; false discovery rate {100 * q:g}% in each family"
    )
    if not settled:
        nothing = f"no significant bias in {count(_different(found, families['exploration']), 'slice')}"
        if families["exploration"]:
            said.append(f"Exploration: {nothing}")
        reach = [s.reach for s in found if s.side.kind == "bias"]
        if reach:
            usual = f"{np.median(reach):.2f}"
            notes.insert(
                0,
                f"the {100 * level:g}% intervals reach {usual} of a grade to each side at the median: a smaller bias "
                "can go unseen",
            )
    more = len(said) - 1 if settled else 0
    first = "; ".join(said) if not settled else said[0] + (f"; {count(more, 'further result')}" if more else "")
    repeats = [i for i in sorted(because, key=lambda i: found[i].p) if because[i] in settled]
    if repeats:
        others = count(len(repeats), "other slice repeats", "other slices repeat")
        notes.append(f"{others} a finding, which the full table names")
    order = [*settled, *repeats]
    if everything:
        order += sorted(set(range(len(found))) - set(order), key=lambda i: found[i].p)
    rows = [
        row_of(replace(found[i], p_bh=float(adjusted[i])))
        | {
            "family": "primary" if chosen[i] else "exploration",
            "found": i in settled,
            "because_of": words_of(found[because[i]]) if i in because else None,
        }
        for i in order
    ]
    frame = pl.DataFrame(rows, schema=SCHEMA).with_columns(pl.col("p_bh").fill_nan(None))
    also = (f"also: {words}" for words in said[1:6]) if settled else ()
    return Result(frame, sentence(first), (*also, *notes), columns=COLUMNS)


def is_primary(s: Slice, primary: Sequence[str]) -> bool:
    """Whether a slice was chosen before looking at the data: one primary feature alone, for bias."""
    return s.side.kind == "bias" and len(s.where) == 1 and s.where[0][0] in primary


def _different(found: list[Slice], members: list[int]) -> int:
    """The number of slices, each counted once for bias and noise."""
    return len({(s.side.group, s.side.against, s.where) for s in (found[i] for i in members)})


def _looked_at(side: Side, min_pairs: int, min_queries: int, level: float) -> Iterator[Slice]:
    """All slices that are large enough, with the comparison of inside and outside."""
    sets = [*((name,) for name in side.codes), *combinations(side.codes, 2)]
    crossed = _crossed(side)
    grades = int(side.grade.max()) + 1
    most = max(int(cluster.max()) + 1 for cluster in (side.query, *(pair for _, _, pair in crossed)))
    for features in sets:
        width = [len(side.names[name]) for name in features]
        code, known = _code(side, features, width)
        size = totals(code, side.pair[known], int(np.prod(width)))
        chosen = _large_enough(size.reshape(width), min_pairs, side, features)
        step = max(1, AT_ONCE // (most * grades))
        for start in range(0, len(chosen), step):
            some = chosen[start : start + step]
            compared, number = _differences(side, crossed, features, width, some, level)
            enough = np.minimum(compared.clusters_in, compared.clusters_out) >= min_queries
            # Where labels and gold never differ there is no noise, and no bias either.
            p = np.where(np.abs(compared.difference) < NOTHING, 1.0, compared.p)
            for i in np.flatnonzero(enough & np.isfinite(p)):
                values = np.unravel_index(int(some[i]), width)
                yield Slice(
                    side,
                    tuple((name, int(value)) for name, value in zip(features, values, strict=True)),
                    n=int(number[i]),
                    n_pairs=round(float(size[some[i]])),
                    n_queries=int(compared.clusters_in[i]),
                    inside=float(compared.inside[i]),
                    outside=float(compared.outside[i]),
                    effect=float(compared.difference[i]),
                    reach=float(compared.reach[i]),
                    p=float(p[i]),
                )


def _crossed(side: Side) -> list[tuple[Side, Ints, Ints]]:
    """The clusters by judge, and by judge and query, as seen from each group whose judges are a sample."""
    found = []
    for seen in (side, side.other):
        if seen is not None and seen.judge is not None:
            pair = distinct(seen.query * (int(seen.judge.max()) + 1) + seen.judge)[1]
            found.append((seen, seen.judge, pair))
    return found


def _code(side: Side, features: tuple[str, ...], width: list[int]) -> tuple[Ints, Bools]:
    """The number of each row's slice by one feature or two, of the rows where these are known, and which they are."""
    known = np.logical_and.reduce([side.codes[name] >= 0 for name in features])
    codes = [side.codes[name][known] for name in features]
    return codes[0] if len(codes) == 1 else codes[0] * width[1] + codes[1], known


def _differences(
    side: Side,
    crossed: list[tuple[Side, Ints, Ints]],
    features: tuple[str, ...],
    width: list[int],
    some: Ints,
    level: float,
) -> tuple[Differences, Ints]:
    """Inside less outside for some slices at once, and how many labels are inside."""
    grades = int(side.grade.max()) + 1

    def sums(seen: Side, cluster: Ints) -> tuple[Floats, Floats, Floats, Floats]:
        """Weights and sums by cluster, slice and grade; then those of all rows."""
        code, known = _code(seen, features, width)
        cluster, grade, weight = cluster[known], seen.grade[known], seen.weight[known]
        number, value = int(cluster.max(initial=0)) + 1, weight * seen.difference[known]
        place = np.full(int(np.prod(width)), -1)
        place[some] = np.arange(len(some))
        mine = place[code] >= 0
        cell, shape = (
            (cluster[mine] * len(some) + place[code[mine]]) * grades + grade[mine],
            (number, len(some), grades),
        )
        everywhere = cluster * grades + grade
        return (
            totals(cell, weight[mine], int(np.prod(shape))).reshape(shape),
            totals(cell, value[mine], int(np.prod(shape))).reshape(shape),
            totals(everywhere, weight, number * grades).reshape(number, grades),
            totals(everywhere, value, number * grades).reshape(number, grades),
        )

    by_judge = []
    for seen, judge, pair in crossed:
        judged, both = (clustered_differences(*sums(seen, cluster)) for cluster in (judge, pair))
        by_judge.append((Variance(judged.error**2, judged.df), both.error**2))
    code, _ = _code(side, features, width)
    # 30 pairs without a single error are no proof that there are none in such a slice: the usual noise counts.
    compared = clustered_differences(*sums(side, side.query), side.noise, by_judge, level=level)
    return compared, np.bincount(code, minlength=int(np.prod(width)))[some]


def _large_enough(size: Floats, least: int, side: Side, features: tuple[str, ...]) -> Ints:
    """The cells with enough pairs inside, and outside; of two that complete each other, one."""
    fits = size >= least - 0.5
    if size.ndim == 1:
        fits &= size.sum() - size >= least - 0.5
        present = np.flatnonzero(size)
        if len(present) == 2:
            # WP stands before nWP and true before false; of other twos, the rarer is the one to name.
            first, second = (side.names[features[0]][i] for i in present)
            rarer = 1 if second in ("n" + first, "false") else int(size[present[0]] <= size[present[1]])
            fits[present[rarer]] = False
    else:
        # A slice that is nearly all of one of its two parents says what the parent says.
        fits &= (size.sum(axis=1, keepdims=True) - size >= least - 0.5) & (size.sum(axis=0) - size >= least - 0.5)
        fits &= size.sum() - size >= least - 0.5
    return np.flatnonzero(fits)


@dataclass(frozen=True)
class Family:
    """The findings of a family of tests, what repeats which slice, and the adjusted p value of each other slice."""

    kept: list[int] = field(default_factory=list)
    because: dict[int, int] = field(default_factory=dict)
    adjusted: dict[int, float] = field(default_factory=dict)


def _standing(members: list[int], found: list[Slice], q: float, settled: list[int]) -> Family:
    """The findings of one family, best first, given those that are settled; a finding is adjusted p at most `q`.

    Single features by evidence, each given those before it, then pairs given all these, if they are more than their two
    parts together; a pair takes the place of a part that is little without it. Noise comes after bias: who overrates is
    right less often, and that is no finding of its own. Repetitions do not count as discoveries in Benjamini and
    Hochberg's procedure.
    """
    if not members:
        return Family()
    plain = dict(zip(members, benjamini_hochberg([found[i].p for i in members]).tolist(), strict=True))
    few = [i for i in members if plain[i] <= q]
    # Slices of the same rows differ in p by rounding only; the one that was asked for first names them.
    few.sort(key=lambda i: (found[i].side.kind == "noise", len(found[i].where), float(f"{found[i].p:.6g}"), i))
    bar = max((found[i].p for i in few), default=0.0)
    p = dict[int, float]()
    for i in few:
        before = [k for k in (*settled, *p) if _same_groups(found[k], found[i])]
        given = _given(found[i], [found[k] for k in before], q)
        parts = [k for k in p if found[k].side is found[i].side and set(found[k].where) < set(found[i].where)]
        rest = [found[k] for k in before if k not in parts]
        # The pair stands in for a part that says less beside it than it says beside the part.
        if given < 1 and parts and all(_given(found[k], [*rest, found[i]], q) > given for k in parts):
            without = _given(found[i], rest, q)
            if without <= bar:
                given, p = without, {k: v for k, v in p.items() if k not in parts}
        if given <= bar:
            p[i] = given
    # Benjamini and Hochberg's step, with the slices that repeat no other as the discoveries.
    ranked, least = sorted(p, key=lambda i: p[i]), 1.0
    for rank in range(len(ranked), 0, -1):
        least = min(least, p[ranked[rank - 1]] * len(members) / rank)
        plain[ranked[rank - 1]] = max(least, found[ranked[rank - 1]].p)
    kept = sorted((i for i in p if plain[i] <= q), key=lambda i: (found[i].p, -abs(found[i].effect)))
    because = dict[int, int]()
    for i in few:
        if i not in p:
            near = [k for k in (*settled, *kept) if _same_groups(found[k], found[i])]
            near = near or [k for k in members if k != i and _same_groups(found[k], found[i])]
            if near:
                because[i] = max(near, key=lambda k: _alike(found[i], found[k]))
            else:
                plain[i] = 1.0
    return Family(kept, because, {i: value for i, value in plain.items() if i not in because})


def _same_groups(one: Slice, other: Slice) -> bool:
    return (one.side.group, one.side.against) == (other.side.group, other.side.against)


def _given(slice_: Slice, before: list[Slice], q: float) -> float:
    """The p value of a slice given those before it; 1 for a pair that is no more than its parts."""
    side, mine = slice_.side, slice_.side.inside(slice_.where)
    if len(slice_.where) > 1:
        parts = [side.inside((part,)) for part in slice_.where]
        known = np.logical_and.reduce([side.codes[name] >= 0 for name, _ in slice_.where])
        if side.p_of_last([*parts, mine], known) > q:
            return 1.0
    if not before:
        return slice_.p
    # More findings than this would not fit into the number of a pattern.
    return side.p_of_last([*(side.inside(other.where) for other in before[:30]), mine])


def _alike(one: Slice, other: Slice) -> float:
    """How far two slices of a side are the same rows, or each other's rest."""
    x, y = one.side.inside(one.where).astype(np.float64), one.side.inside(other.where).astype(np.float64)
    return float(abs(np.corrcoef(x, y)[0, 1]))
