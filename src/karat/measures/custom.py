"""Measures of your own: a Python function of the labels of one ranked list becomes one that karat knows by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Any, ClassVar

import numpy as np

from karat.errors import BadInput
from karat.measures.base import MEASURES, Measure
from karat.measures.rankings import Lists
from karat.stats.arrays import Bools, Floats

#: A function of what stands at the ranks of a list: see `register_measure`.
ListFunction = Callable[..., float]


def _labels(lists: Lists, number: int, rows: slice) -> Floats:
    """The label at each rank; 0 where nobody judged the document, or the label is below 0."""
    labels = np.zeros(lists.size[number])
    labels[lists.rank[rows] - 1] = np.fmax(lists.label[rows], 0.0)
    return labels


def _judged(lists: Lists, number: int, rows: slice) -> Bools:
    """Whether the document at each rank has a label, 0 or more."""
    judged = np.zeros(lists.size[number], bool)
    judged[lists.rank[rows] - 1] = lists.label[rows] >= 0
    return judged


def _ideal(lists: Lists, number: int, rows: slice) -> Floats:
    """The labels of all documents judged for the query, best first."""
    labels = lists.topics.label[lists.topics.topic == lists.topic[number]]
    return np.sort(np.fmax(labels, 0.0))[::-1]


#: What a function may ask of one ranked list down to the cutoff, by the names of its arguments.
ARGUMENTS: dict[str, Callable[[Lists, int, slice], Floats | Bools]] = {
    "labels": _labels,
    "judged": _judged,
    "ideal": _ideal,
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Custom(Measure):
    """A measure that a Python function works out, one list after the other."""

    #: The function, and which of `ARGUMENTS` it takes.
    function: ClassVar[ListFunction]
    takes: ClassVar[tuple[str, ...]]

    def score(self, lists: Lists) -> Floats:
        """What the function says of each list."""
        lists = self.view(lists)
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "cutoff"}
        function = type(self).__dict__["function"].__func__
        ends = np.searchsorted(lists.row_list, np.arange(len(lists) + 1))
        values = np.empty(len(lists))
        for number, rows in enumerate(map(slice, ends[:-1], ends[1:])):
            value = function(*(ARGUMENTS[name](lists, number, rows) for name in self.takes), **given)
            try:
                values[number] = value
            except (TypeError, ValueError):
                raise BadInput.at(f"the measure {self}", expected="a number for each list", found=repr(value)) from None
        return values


def register_measure(name: str, *, cutoff: int | None = None) -> Callable[[ListFunction], type[Measure]]:
    """Make a Python function of one ranked list a measure.

    >>> @register_measure("top_heavy", cutoff=10)
    ... def top_heavy(labels, *, power=1.0):
    ...     "The labels' sum, each divided by a power of its rank."
    ...     return (labels / np.arange(1, len(labels) + 1) ** power).sum()
    >>> from karat.measures import parse_measure
    >>> parse_measure("top_heavy(power=2)@5"), top_heavy()
    (top_heavy(power=2)@5, top_heavy@10)
    >>> MEASURES.forget("top_heavy")

    The function's arguments say by their names what it wants: `labels` (the label at each rank, 0 where there is
    none), `judged` (whether there is one), `ideal` (all labels of the query, best first). Arguments after `*` need a
    default and are the measure's parameters. `cutoff` is where lists end unless `@k` says another. What is undefined
    is NaN. The function is called once for every list: for large runs derive from `Measure`, which sees all at once.
    """

    def registered(function: ListFunction) -> type[Measure]:
        takes, parameters = _arguments(name, function)
        columns: list[Any] = [("cutoff", int | None, field(default=cutoff))]
        columns += [(key, type(default), field(default=default)) for key, default in parameters.items()]
        cls = make_dataclass(
            name,
            columns,
            bases=(Custom,),
            namespace={
                "function": staticmethod(function),
                "takes": takes,
                "__doc__": inspect.getdoc(function) or f"{name}, a measure of {function.__module__}.",
                "__module__": function.__module__,
            },
            frozen=True,
            kw_only=True,
            repr=False,
        )
        return MEASURES.register(name, cls, function.__module__)

    if not name.isidentifier():
        raise BadInput.at("the measure's name", expected="letters, digits and _", found=f'"{name}"')
    return registered


def _arguments(name: str, function: ListFunction) -> tuple[tuple[str, ...], Mapping[str, object]]:
    """What the function wants of a list, and the parameters that it has, with their defaults."""
    takes, parameters = [], {}
    for key, argument in inspect.signature(function).parameters.items():
        if argument.kind is argument.KEYWORD_ONLY and argument.default is not argument.empty:
            parameters[key] = argument.default
        elif argument.kind is argument.POSITIONAL_OR_KEYWORD and key in ARGUMENTS:
            takes.append(key)
        else:
            raise BadInput.at(
                f'the function of the measure "{name}"',
                expected=f"arguments named {', '.join(ARGUMENTS)}, and parameters with a default after *",
                found=str(argument),
            )
    return tuple(takes), parameters
