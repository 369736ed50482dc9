"""Things of one kind by name, each registered in the file that defines it: karat's own, yours, or a package's.

karat's own are found by importing the files of their folder. Those of other packages are found by entry point, and
loaded when a name is asked for that nobody has registered: starting karat waits for none of them.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Generic, TypeVar

from karat.errors import BadInput

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Named things of one kind, in the order in which they were registered.

    >>> colours: Registry[str] = Registry("colour", "karat.colours")
    >>> colours.register("gold", "#9a6b00", "here")
    '#9a6b00'
    >>> colours["gold"], "red" in colours, list(colours)
    ('#9a6b00', False, ['gold'])
    >>> colours.register("gold", "#000000", "elsewhere")
    Traceback (most recent call last):
    karat.errors.BadInput: the colour "gold": expected a name of its own, found one that here has taken

    `group` is the group of entry points, and `home` the folder whose files register karat's own.
    """

    def __init__(self, kind: str, group: str, home: str = "") -> None:
        self.kind, self.group, self.home = kind, group, home
        self._things: dict[str, T] = {}
        self._owners: dict[str, str] = {}
        self._finding = RLock()

    def register(self, name: str, thing: T, owner: str) -> T:
        """Take a thing in. `owner`, the module it comes from, may register it anew, as a notebook's cell run twice."""
        if self._owners.get(name, owner) != owner:
            raise BadInput.at(
                f'the {self.kind} "{name}"',
                expected="a name of its own",
                found=f"one that {self._owners[name]} has taken",
            )
        self._things[name], self._owners[name] = thing, owner
        return thing

    def forget(self, name: str) -> None:
        """Take a thing out again."""
        del self._things[name], self._owners[name]

    @property
    def own(self) -> dict[str, T]:
        """What is registered, without other packages' that nobody has asked for."""
        with self._finding:  # a second thread waits until the first has found all
            if self.home:
                home, self.home = self.home, ""
                for module in pkgutil.iter_modules(import_module(home).__path__, f"{home}."):
                    import_module(module.name)
        return self._things

    def __getitem__(self, name: str) -> T:
        if name not in self.own:
            for point in self._elsewhere().select(name=name):
                point.load()
                if name not in self._things:
                    raise BadInput.at(
                        f"the entry point {name} of {self.group}",
                        expected=f'{point.value} to register the {self.kind} "{name}"',
                        found="that it does not",
                    )
        return self._things[name]

    def __iter__(self) -> Iterator[str]:
        yield from self.own
        yield from sorted(self._elsewhere().names - self._things.keys())

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _elsewhere(self) -> EntryPoints:
        from importlib.metadata import entry_points

        return entry_points(group=self.group)
