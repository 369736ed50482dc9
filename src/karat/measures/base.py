"""What a measure is: a frozen value that prints as it is parsed, and scores all lists at once."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeGuard, TypeVar, dataclass_transform

import numpy as np

from karat.errors import BadInput
from karat.measures.rank_order import Profile
from karat.registry import Registry
from karat.stats.arrays import Floats, Ints

if TYPE_CHECKING:
    from karat.measures.rankings import Lists
if TYPE_CHECKING:
    from karat.measures.rankings import Lists
    from karat.measures.topics import Topics


#: How the values of queries become one: by their mean, by their logarithms' mean, or by their sum.
Mean = Literal["arithmetic", "geometric", "sum"]

#: No list is longer; a larger cutoff is a slip.
DEEPEST = 1_000_000


def ranged(default: Any, low: float, high: float) -> Any:
    """A parameter with the range that it must lie in, ends included."""
    return field(default=default, metadata={"range": (low, high)})


class MeasureType(ABCMeta):
    """Lets a measure's bare name stand for its defaults: `nDCG @ 10` is `nDCG() @ 10`."""

    def __matmul__(cls, cutoff: int) -> Measure:
        measure = cls()
        assert isinstance(measure, Measure)
        return measure @ cutoff


@dataclass(frozen=True, kw_only=True, repr=False)
class Measure(metaclass=MeasureType):
    """How good one ranked list is, as a number.

    A measure is spelled as in ir_measures and prints as it is parsed:

    >>> from karat.measures import P, parse_measure
    >>> P(rel=2) @ 5
    P(rel=2)@5
    >>> parse_measure("P(rel=2)@5") == P(rel=2) @ 5
    True

    What was written is what is printed, also where it is the default:

    >>> parse_measure("P(rel=1)@5"), P @ 5, P(rel=1) @ 5 == P @ 5
    (P(rel=1)@5, P@5, True)
    """

    cutoff: int | None = None

    #: Whether the measure means nothing without a cutoff, as P does.
    needs_cutoff: ClassVar[bool] = False
    #: Whether the measure has no cutoff at all, as Bpref does.
    never_cut: ClassVar[bool] = False
    #: Whether the measure looks at subtopics.
    diverse: ClassVar[bool] = False
    #: Whether its values lie between 0 and 1, so that no interval goes further.
    bounded: ClassVar[bool] = False
    #: Whether the measure copes with documents without a label by design, as Bpref does; others call them not relevant.
    handles_unjudged: ClassVar[bool] = False
    #: How the values of queries become one. The value of a query is a logarithm where the mean is geometric.
    mean: ClassVar[Mean] = "arithmetic"
    #: What a name that is not karat's was read as, in a sentence.
    understood: ClassVar[str] = ""
    if TYPE_CHECKING:
        _given: ClassVar[frozenset[str]]

    def __new__(cls, **given: object) -> Self:
        """Remember which parameters were written, so that they are printed."""
        self = super().__new__(cls)
        object.__setattr__(self, "_given", frozenset(given))
        return self

    def __post_init__(self) -> None:
        for parameter in fields(self):
            value = getattr(self, parameter.name)
            if isinstance(value, np.generic):  # NumPy's numbers print in a way that does not read back
                value = value.item()
                object.__setattr__(self, parameter.name, value)
            if "range" not in parameter.metadata or (value is None and parameter.default is None):
                continue
            low, high = parameter.metadata["range"]
            if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
                expected = f"a number from {low:g} to {high:g}"
                raise BadInput.at(f"{parameter.name} of {type(self).__name__}", expected=expected, found=str(value))
        if self.cutoff is None:
            return
        if self.never_cut:
            raise BadInput(f"{type(self).__name__} looks at the whole list and takes no cutoff")
        if not isinstance(self.cutoff, int) or isinstance(self.cutoff, bool) or not 1 <= self.cutoff <= DEEPEST:
            expected = f"a whole number from 1 to {DEEPEST:,}"
            raise BadInput.at(f"the cutoff of {type(self).__name__}", expected=expected, found=str(self.cutoff))

    def __matmul__(self, cutoff: int) -> Self:
        return self.varied(cutoff=cutoff)

    def varied(self, **other: Any) -> Self:
        """The same measure with other parameters.

        >>> from karat.measures import CCG
        >>> (CCG(context=0.5) @ 5).varied(context=0.25)
        CCG(context=0.25)@5
        """
        made = type(self)(**{name: getattr(self, name) for name in self._given} | other)
        if self.understood:
            object.__setattr__(made, "understood", self.understood)
        return made

    @property
    def score_range(self) -> tuple[float, float] | None:
        """The lowest and highest score possible; None where there are no bounds."""
        return (0.0, 1.0) if self.bounded else None

    @property
    def counts_unjudged(self) -> bool:
        """Whether documents without a label count as not relevant, so that too many of them mislead."""
        return not self.handles_unjudged

    @property
    def depth(self) -> int:
        """The cutoff of a measure that needs one."""
        if self.cutoff is None:
            name = type(self).__name__
            raise BadInput.at("the measure", expected=f"a cutoff, such as {name}@10", found=str(self))
        return self.cutoff

    @abstractmethod
    def score(self, lists: Lists) -> Floats:
        """The value of each list; NaN where the measure is undefined."""

    def view(self, lists: Lists) -> Lists:
        """The part of the lists that the measure looks at."""
        return lists.cut(self.depth if self.needs_cutoff else self.cutoff)

    def __str__(self) -> str:
        names = [parameter.name for parameter in fields(self) if parameter.name in self._given - {"cutoff"}]
        shown = [f"{name}={getattr(self, name)!r}" for name in names]
        text = type(self).__name__ + (f"({','.join(shown)})" if shown else "")
        return text if self.cutoff is None else f"{text}@{self.cutoff}"

    __repr__ = __str__


#: The measures by name: what can be parsed, `kt.NAME`, `karat measures` and the page of measures are read from it.
MEASURES: Registry[type[Measure]] = Registry("measure", "karat.measures", home="karat.measures")

M = TypeVar("M", bound=Measure)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def measure(cls: type[M]) -> type[M]:
    """Make a class a measure that can be asked for by its name: a frozen value, registered."""
    MEASURES.register(cls.__name__, made := dataclass(frozen=True, kw_only=True, repr=False)(cls), cls.__module__)
    return made


@dataclass(frozen=True, kw_only=True, repr=False)
class Listed(Measure):
    """A measure of one list; with `judged_only`, documents that nobody judged are taken out of it first."""

    judged_only: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.judged_only, bool):
            raise BadInput.at("judged_only", expected="True or False", found=str(self.judged_only))

    @property
    def counts_unjudged(self) -> bool:
        """Whether documents without a label count as not relevant, so that too many of them mislead."""
        return super().counts_unjudged and not self.judged_only

    def view(self, lists: Lists) -> Lists:
        """The part of the lists that the measure looks at."""
        return super().view(lists.condensed if self.judged_only else lists)


@dataclass(frozen=True, kw_only=True, repr=False)
class Ranked(Listed):
    """A measure of relevant or not: documents at or above `rel` are relevant."""

    rel: float = ranged(1, -1e9, 1e9)
    bounded: ClassVar[bool] = True


def share(part: Floats, whole: Floats, undefined: float = 0.0) -> Floats:
    """Part by whole; where the whole is 0, by default 0, as trec_eval has it for a query without relevant documents."""
    out = np.full(len(part), undefined)
    np.divide(part, whole, out=out, where=whole != 0)
    return out


@dataclass(frozen=True, kw_only=True, repr=False)
class Linear(Listed):
    """A measure whose value is a sum over the documents of the list: weight of the rank times worth of the label."""

    @abstractmethod
    def weight(self, rank: Ints) -> Floats:
        """How much a document counts at each of these ranks, all of them within the cutoff."""

    def shared_by(self, size: Ints) -> Floats:
        """By what the sum over a list of so many documents is divided: nothing but by the weights, for most."""
        return np.ones(len(size))

    @abstractmethod
    def worth(self, labels: Floats, topics: Topics, profile: Profile) -> Floats:
        """What documents with these labels are worth; no label (NaN) is worth nothing."""

    def score(self, lists: Lists) -> Floats:
        """Sum of weight times worth."""
        lists = self.view(lists)
        label = lists.utility(_context(self))
        total = lists.total(self.worth(label, lists.topics, lists.profile) * self.weight(lists.rank))
        return share(total, self.shared_by(lists.size))


def _context(measure: Measure) -> float:
    return float(getattr(measure, "context", 0.0))


def is_linear(measure: Measure) -> TypeGuard[Linear]:
    """Whether the measure, as it is set, is a sum over documents.

    >>> from karat.measures import parse_measure
    >>> [is_linear(parse_measure(name)) for name in ("P@10", "DCG(gains='exp')@10", "RBP", "nDCG@10", "RR")]
    [True, True, True, False, False]

    With `judged_only` the rank of a document depends on which others were judged; with `context` its worth on the one
    above it.
    """
    return isinstance(measure, Linear) and not measure.judged_only and not _context(measure)
