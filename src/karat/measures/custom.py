"""Measures of your own: a Python function of the labels of one ranked list becomes one that karat knows by name."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from karat.errors import BadInput
from karat.measures.base import MEASURES, Measure
from karat.measures.lists import Lists
from karat.stats.arrays import Bools, Floats

#: A function of what stands at the ranks of a list: see `register_measure`.
ListFunction = Callable[..., float]


@dataclass(frozen=True, eq=False)
class Shown:
    """One ranked list down to the cutoff, as the names of a function's arguments ask for it."""

    lists: Lists
    number: int
    length: int

    @cached_property
    def _rows(self) -> slice:
        first, end = np.searchsorted(self.lists.row_list, [self.number, self.number + 1])
        return slice(int(first), int(end))

    @cached_property
    def labels(self) -> Floats:
        """The label at each rank; 0 where nobody judged the document, or the label is below 0."""
        labels = np.zeros(self.length)
        labels[self.lists.rank[self._rows] - 1] = np.fmax(self.lists.label[self._rows], 0.0)
        return labels

    @cached_property
    def judged(self) -> Bools:
        """Whether the document at each rank has a label, 0 or more."""
        judged = np.zeros(self.length, bool)
        judged[self.lists.rank[self._rows] - 1] = self.lists.label[self._rows] >= 0
        return judged

    @cached_property
    def ideal(self) -> Floats:
        """The labels of all documents judged for the query, best first."""
        topics, topic = self.lists.topics, self.lists.topic[self.number]
        first, end = np.searchsorted(topics.topic, [topic, topic + 1])
        return np.sort(np.fmax(topics.label[first:end], 0.0))[::-1]


ARGUMENTS = ("labels", "judged", "ideal")


@dataclass(frozen=True, kw_only=True, repr=False)
class Custom(Measure):
    """A measure that a Python function works out, one list after the other."""

    #: The function, and which of `ARGUMENTS` it takes.
    function: ClassVar[ListFunction]
    takes: ClassVar[tuple[str, ...]]

    @abstractmethod
    def _is_made(self) -> None:
        """Only `register_measure` makes these."""

    def score(self, lists: Lists) -> Floats:
        """What the function says of each list."""
        lists = self.view(lists)
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "cutoff"}
        function = type(self).__dict__["function"].__func__
        values = np.empty(len(lists))
        for number in range(len(lists)):
            shown = Shown(lists, number, int(lists.size[number]))
            value = function(*(getattr(shown, name) for name in self.takes), **given)
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
                "_is_made": lambda self: None,
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
