"""What the classes of a scenario's tables share: values that do not change, and their keys."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar, Union

Value = Union[str, int, float, bool, Sequence["Value"], Mapping[str, "Value"], "Section"]
"""What a key may have."""

S = TypeVar("S", bound="Section")

_classes: dict[tuple[str, str], type[Section]] = {}
"""All tables, by their modules and names: subjects have tables of the same name."""


class Section:
    """A table of a scenario. It does not change; `replace` makes another one."""

    _renamed: ClassVar[Mapping[str, str]] = {}
    """The keys whose names differ in Python, by these."""
    _tables: ClassVar[Mapping[str, str]] = {}
    """The classes of the keys that hold tables."""

    def __init_subclass__(cls) -> None:
        _classes.setdefault((cls.__module__, cls.__name__), cls)

    def _fill(self, values: Mapping[str, object]) -> None:
        for name, value in values.items():
            self.__dict__[name] = tuple(value) if isinstance(value, list) else value

    def _given(self) -> dict[str, Any]:
        """The values by their names in Python, those that are not given left out."""
        values = self.__dict__.items()
        return {
            name: value for name, value in values if value is not None and not name.startswith("_")
        }

    def _items(self) -> list[tuple[str, Any]]:
        """The values by their names in a file."""
        return [(self._renamed.get(name, name), value) for name, value in self._given().items()]

    @classmethod
    def _of(cls: type[S], values: Mapping[str, Any]) -> S:
        """The table with the keys and values of a file, known or not: `check` tells."""
        names = {key: name for name, key in cls._renamed.items()}
        # The module that has the table may have it from that of all subjects.
        modules = [base.__module__ for base in cls.__mro__ if "_tables" in base.__dict__][:1]
        modules.append("trammel._keys")
        filled: dict[str, Any] = {}
        for key, value in values.items():
            known = ((module, cls._tables.get(key, "")) for module in modules)
            inner = next((_classes[one] for one in known if one in _classes), None)
            if inner and isinstance(value, Mapping):
                value = inner._of(value)
            elif inner and isinstance(value, list):
                value = [inner._of(row) if isinstance(row, Mapping) else row for row in value]
            filled[names.get(key, key)] = value
        section = cls()
        section._fill(filled)
        return section

    def replace(self: S, **changes: Any) -> S:
        """The same table with other values; None takes a key away."""
        other = type(self).__new__(type(self))
        other._fill({name: value for name, value in self.__dict__.items() if name[0] != "_"})
        known = other.__dict__
        takes_others = type(self).__init__.__code__.co_flags & inspect.CO_VARKEYWORDS
        for name in changes:
            if name not in known and not takes_others:
                raise TypeError(f"`{type(self).__name__}` has no key `{name}`")
        other._fill(changes)
        return other

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} does not change; use `replace({name}=…)`")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} does not change")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Section):
            return NotImplemented
        return type(self) is type(other) and self._items() == other._items()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self._given().items())
        return f"{type(self).__name__}({values})"
