"""Who said what about which item: all labels laid out by number, once, for everything that looks at judges.

Row i says that `judge[i]` of `group[i]` gave `grade[i]` to `item[i]` of `query[i]`; rows are in the order in which the
labels were given.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.labels.cache import made_once
from karat.labels.consensus import How, Reduced, Ties, reduced
from karat.labels.gold import GOLD, read_sampling_probabilities
from karat.labels.label_table import ALL, Gathered, Nameless, Repeats, gathered
from karat.labels.label_table import NAMELESS_PREFIX as NOBODY
from karat.labels.order import ThirdRule, asked_of_all, inferred_rules, known_rules
from karat.labels.scale_check import other_scale
from karat.records import Judgments, LabelsLike, Scale
from karat.records.scale import refuse_many_grades
from karat.records.study_design import Rules
from karat.records.table import count
from karat.records.times import moments
from karat.stats.agreement_coefficients import label_counts
from karat.stats.arrays import Bools, Floats, Ints


def gold_of_items(frame: pl.DataFrame, item: Ints, grades: Floats, notes: list[str]) -> tuple[Ints, Floats]:
    """The gold grade of each item by number, -1 where there is none, and its weight."""
    rows = frame.select("group", "label", item=pl.Series(item))
    trusted = rows.filter(pl.col("group") == GOLD)
    judged = rows.filter(pl.col("group") != GOLD)["item"].unique()
    made = reduced(trusted, ["item"])
    torn = int(made.frame["tied"].sum())
    if torn:
        notes.append(f"gold labels of {count(torn, 'document')} split evenly: the lower grade counts")
    items = int(item.max()) + 1
    shared = made.frame.filter(pl.col("item").is_in(judged.implode()))
    notes.append(f"{count(shared.height, 'document')} of {len(judged):,} judged ones have a gold label")
    if shared.height < made.frame.height:
        notes.append(f"gold labels of {count(made.frame.height - shared.height, 'document')} that nobody else judged")
    is_gold = frame["group"] == GOLD
    strange = other_scale(frame["label"].filter(~is_gold), frame["label"].filter(is_gold))
    notes += [strange] if strange else []
    known, weights = np.full(items, -1), np.ones(items)
    known[made.frame["item"].to_numpy()] = np.searchsorted(grades, made.frame["label"].to_numpy())
    sampled = read_sampling_probabilities(
        frame.with_columns(item=pl.Series(item)).filter(is_gold), ("item", "query", "doc")
    )
    if sampled is not None:
        weights[sampled["item"].to_numpy()] = 1 / sampled["probability"].to_numpy()
    return known, weights


#: Figures come from tables of grades x grades: a scale of 0 to 100 is the largest that makes sense.
MOST_GRADES = 101
#: What `Panel.labels` says where all labels count; otherwise it names those that do, as "first two".
ALL_LABELS = "all"
WORDS = {2: "two", 3: "three", 4: "four"}
#: How numbers are written; digits after a leading 0 are a name.
NUMBER = r"^\s*[+-]?(?:0|[1-9]\d*)?(?:\.\d+|\.)?(?:[eE][+-]?\d+)?\s*$"


@dataclass(frozen=True, eq=False, repr=False)
class Panel:
    """The labels of judges, and what gold says, by number.

    >>> panel = Panel.of([{"query": "q", "doc": "d", "label": 2, "judge": "eve"},
    ...                   {"query": "q", "doc": "d", "label": 0, "judge": "bob"}])
    >>> panel.item.tolist(), panel.judge.tolist(), panel.grade.tolist(), panel.grades.tolist()
    ([0, 0], [1, 0], [1, 0], [0.0, 2.0])

    Everything in `karat.judges` takes labels, or a panel made with other policies than the usual ones: a judge's label
    of an item is the first one (`repeats`), nameless labels are of different people where an item has several
    (`nameless`), and only overall labels of pages, read alone, for whole queries count (`apart` names the columns, of
    aspect, surface, context, subtopic, whose values make items of their own instead).
    """

    #: The rows as they came, with a group each.
    frame: pl.DataFrame
    #: What each item is.
    items: pl.DataFrame
    #: Group and name of each judge, sorted; the nameless have none.
    judges: pl.DataFrame
    #: The groups, gold last.
    groups: tuple[str, ...]
    #: The grades there are, or could be, lowest first.
    grades: Floats
    query: Ints
    item: Ints
    group: Ints
    judge: Ints
    grade: Ints
    #: The number of each item's gold grade, -1 where there is none; and 1 / the chance it had to be drawn for gold.
    gold: Ints
    gold_weight: Floats
    #: Who could not tell how often: group, judge, silent.
    silent: pl.DataFrame
    #: Which labels these are: all, or the first two (or so) of each item.
    labels: str
    timed: bool
    scale: Scale | None
    rules: Rules | None
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        labels: Panel | LabelsLike,
        gold: LabelsLike | None = None,
        *,
        apart: Collection[str] = (),
        repeats: Repeats = "first",
        nameless: Nameless = "auto",
    ) -> Panel:
        """The panel of these labels, with those of `gold`, or of a group of that name, as the truth beside them."""
        if isinstance(labels, Panel):
            if gold is not None:
                raise BadInput("a panel has its gold labels already: give them when it is made")
            return labels
        judged, known = Judgments.of(labels), None if gold is None else Judgments.of(gold)
        key = ("panel", known, tuple(apart), repeats, nameless)
        return made_once(
            judged, key, lambda: cls._made(gathered(judged, known, apart=apart, repeats=repeats, nameless=nameless))
        )

    @classmethod
    def _made(cls, found: Gathered) -> Panel:
        frame, notes, scale = found.frame.drop("who"), list(found.notes), found.judgments.scale
        named = [] if scale is None else scale.grades
        # Adding 0 makes -0 the same as 0, also in print.
        grades: Floats = np.unique(np.append(frame["label"].unique().to_numpy(), named)) + 0.0
        items, item = numbered(frame.select(found.key))
        groups = sorted(frame["group"].unique().to_list(), key=lambda name: (name == GOLD, name))
        people, judge = numbered(found.frame.select("group", "who"))
        known, weight = np.full(items.height, -1), np.ones(items.height)
        if found.gold is not None:
            known, weight = gold_of_items(frame, item, grades, notes)
        return cls(
            frame=frame,
            items=items,
            judges=people.select("group", judge=pl.when(~pl.col("who").str.starts_with(NOBODY)).then("who")),
            groups=tuple(groups),
            grades=grades,
            query=numbered(frame.select("query"))[1],
            item=item,
            group=frame["group"].replace_strict(groups, range(len(groups)), return_dtype=pl.Int64).to_numpy(),
            judge=judge,
            grade=np.searchsorted(grades, frame["label"].to_numpy()),
            gold=known,
            gold_weight=weight,
            silent=found.silent,
            labels=ALL_LABELS,
            timed=found.timed,
            scale=scale,
            rules=found.judgments.rules,
            notes=tuple(notes),
        )

    def __repr__(self) -> str:
        labels, items = count(len(self.item), "label"), count(len(np.unique(self.item)), "item")
        who = count(len(np.unique(self.judge)), "judge")
        return f"{labels} of {items} by {who}" + "".join(f"\n- {note}" for note in self.notes)

    @property
    def levels(self) -> int:
        """How many grades there are, for tables of them; labels that are measurements have too many and are refused."""
        refuse_many_grades(len(self.grades), MOST_GRADES)
        return len(self.grades)

    @property
    def value(self) -> Floats:
        """The label of each row."""
        return self.grades[self.grade]

    @property
    def truth(self) -> Floats:
        """The gold label of each row's item, NaN where there is none."""
        gold = self.gold[self.item]
        return np.where(gold >= 0, self.grades[gold], np.nan)

    @property
    def repeated(self) -> bool:
        """Whether a judge has more than one label of an item."""
        return len(self._once) < len(self.item)

    @property
    def nameless(self) -> Bools:
        """Which judges, by number, have no name."""
        flags: Bools = self.judges["judge"].is_null().to_numpy()
        return flags

    @property
    def has_gold(self) -> bool:
        """Whether some items have a gold label."""
        return bool((self.gold >= 0).any())

    @property
    def has_groups(self) -> bool:
        """Whether the judges come in groups that have names; gold beside them is none."""
        return self.groups not in ((ALL,), (ALL, GOLD))

    @property
    def top(self) -> float:
        """The highest grade there is: the scale's, or the highest label."""
        return float(self.grades[-1])

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return int(self.query.max()) + 1 if len(self.query) else 0

    def said(self, grade: float) -> str:
        """A grade in the words of the scale."""
        return f"{grade:g}" if self.scale is None else self.scale.name(grade)

    def kept(self, rows: Bools, *notes: str) -> Panel:
        """The panel with these rows only; numbers keep their meaning."""
        arrays = {name: getattr(self, name)[rows] for name in ("query", "item", "group", "judge", "grade")}
        return replace(self, frame=self.frame.filter(pl.Series(rows)), notes=(*self.notes, *notes), **arrays)

    def of_judges(self) -> Panel:
        """The panel without the rows of gold, which is still known of the items."""
        if GOLD not in self.groups or not self.has_gold:
            return self
        judges = self.kept(self.group != self.groups.index(GOLD))
        if not len(judges.item):
            raise Undefined("there is no label but gold ones: every judge could not tell, or nobody was asked")
        return judges

    @cached_property
    def third_rules(self) -> list[ThirdRule]:
        """The groups in which a further label was asked only where the first two were apart, as known or as seen."""
        if self.rules is not None:
            several = [group for group in self.groups if self._more_than(self.rules.labels, group)]
            return known_rules(self.rules, several)
        if len(self.grades) > MOST_GRADES:  # measurements, of which no two are alike
            return []
        once = self._once
        return inferred_rules(self.item[once], self.group[once], self.grade[once], self.groups, self.grades)

    def asked_of_all(self) -> Panel:
        """The labels that were asked of every item alike: the first two, in groups where a third had to be earned."""
        if not self.third_rules:
            return self
        ruled = {self.groups.index(rule.group): rule for rule in self.third_rules}
        once = self._once
        first = asked_of_all(self.item[once], self.group[once], self.value[once], self._moment[once], ruled)
        # Who was asked keeps all his labels of the item, where those given again count at all.
        keep = np.isin(self._pair, self._pair[once][first])
        rule, left = self.third_rules[0], count(int((~keep).sum()), "label")
        whose = f"{', '.join(self.groups[number] for number in ruled)}: " if self.has_groups else ""
        seen = "as the study says" if rule.known else "as the labels show"
        named = f"first {WORDS.get(rule.labels, rule.labels)}"
        note = (
            f"{whose}more than {WORDS.get(rule.labels, rule.labels)} labels only where the first two {rule.differed}, "
            f"{seen}: the {named} of each document are used{'' if self.timed else ', by the order of the rows'}, "
            f"{left} left aside"
        )
        return replace(self.kept(keep, note), labels=named)

    def counts(self) -> Floats:
        """How many labels of each grade each item has: items x grades."""
        return label_counts(self.item, self.grade, self.items.height, self.levels)

    def consensus(self, how: How = "median", ties: Ties = "lower") -> Reduced:
        """One label for each group and item, by number."""
        frame = pl.DataFrame({"group": self.group, "item": self.item, "label": self.value})
        return reduced(frame, ["group", "item"], how, ties)

    def feature(self, name: str) -> pl.Series:
        """A column of the rows, as numbers where all its texts are numbers (a CSV does not tell them apart).

        Gold labels that came by themselves have what the others say of the same document.
        """
        if name not in self.frame.columns:
            raise BadInput.at("the labels", expected=f"a column {name}", found=", ".join(self.frame.columns))
        values = as_numbers(self.frame[name])
        if GOLD not in self.groups or not values.null_count():
            return values
        pair = ["query", "doc"]
        known = self.frame.select(*pair, _known=values).drop_nulls().unique(pair, keep="first", maintain_order=True)
        joined = self.frame.select(pair).join(known, on=pair, how="left", maintain_order="left")["_known"]
        is_gold = pl.Series(self.group == self.groups.index(GOLD))
        return joined.zip_with(is_gold & values.is_null(), values).alias(name)

    @cached_property
    def query_of_item(self) -> Ints:
        """The number of each item's query."""
        query = np.zeros(self.items.height, np.int64)
        query[self.item] = self.query
        return query

    @cached_property
    def _moment(self) -> Floats:
        """When each label was given, as a number; one and the same where no time is known."""
        if "time" not in self.frame.columns:
            return np.zeros(len(self.item))
        return moments(self.frame["time"]).fill_null(np.inf).to_numpy()

    @cached_property
    def _pair(self) -> Ints:
        """A number for each row's item and judge."""
        pair: Ints = self.item * self.judges.height + self.judge
        return pair

    @cached_property
    def _once(self) -> Ints:
        """The first row of each judge about an item: a label given again takes no place in the order."""
        return np.sort(np.unique(self._pair, return_index=True)[1])

    def _more_than(self, labels: int, group: str) -> bool:
        mine = self.item[self._once][self.group[self._once] == self.groups.index(group)]
        return bool(len(mine)) and int(np.bincount(mine).max()) > labels


def as_numbers(values: pl.Series) -> pl.Series:
    """Texts that are all numbers as numbers, anything else as it is; 007 is a name.

    >>> as_numbers(pl.Series(["10", "9.5", None])).to_list(), as_numbers(pl.Series(["10", "007"])).to_list()
    ([10.0, 9.5, None], ['10', '007'])
    """
    if values.dtype != pl.String:
        return values
    filled = values.set(values.str.strip_chars() == "", None)  # an empty cell says nothing
    if not filled.count() or not filled.drop_nulls().str.contains(NUMBER).all():
        return values
    numbers = filled.str.strip_chars().cast(pl.Float64, strict=False)
    return numbers if numbers.count() == filled.count() else values


def numbered(keys: pl.DataFrame) -> tuple[pl.DataFrame, Ints]:
    """The different rows in order, and the number of each row among them.

    >>> numbered(pl.DataFrame({"doc": ["b", "a", "b"]}))[1].tolist()
    [1, 0, 1]
    """
    groups = keys.with_row_index("_row").group_by(keys.columns).agg("_row").sort(keys.columns)
    number = np.empty(keys.height, np.int64)
    rows, size = groups["_row"].explode(), groups["_row"].list.len().to_numpy()
    number[rows.to_numpy()] = np.repeat(np.arange(groups.height), size)
    return groups.drop("_row"), number
