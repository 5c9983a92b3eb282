"""Classes by their names: policies and noise families, those of the package and a user's own.

A class is registered by `ocucb.register`. A process that has not imported the module of a class, such as a service or a
worker on another machine, finds it by the entry points of the group `ocucb.plugins`, which name modules to import.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib.metadata import entry_points
from threading import RLock
from typing import Any, Generic, TypeVar

from ocucb.errors import GuaranteeWarning, ParameterError, StateError

GROUP = "ocucb.plugins"
NAME = re.compile(r"[a-z][a-z0-9+-]*")

Kind = TypeVar("Kind")
Registered = TypeVar("Registered", bound=type[Any])


class Registry(Mapping[str, type[Kind]], Generic[Kind]):
    """The classes of one kind by name, in the order in which they were registered.

    Parameters
    ----------
    parameter : what a `Bandit` calls one of them: "policy" or "noise".
    kind : what they are, in messages: "policy" or "noise family".
    base : the class that all of them inherit from.
    words : class variables of text that each of them must have.
    """

    def __init__(self, parameter: str, kind: str, base: type[Any], words: tuple[str, ...]) -> None:
        self.parameter, self.kind, self.base, self.words = parameter, kind, base, words
        self._classes: dict[str, type[Kind]] = {}
        _registries.append(self)

    def register(self, cls: Registered) -> Registered:
        """Make a class known by its name, and return it, so that this can stand before the class as a decorator.

        Raises ParameterError if it is no such class, or if another has its name.
        """
        self._check(cls)
        other = self._classes.get(cls.name)
        # A cell of a notebook that is run again makes its class anew, and means the same by it.
        if other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ParameterError(
                f"name of a {self.kind} must be new, got {cls.name!r}, which is {other.__qualname__} of "
                f"{other.__module__}; give the class another name"
            )
        self._classes[cls.name] = cls
        return cls

    def _check(self, cls: object) -> None:
        if not (isinstance(cls, type) and issubclass(cls, self.base)):
            raise ParameterError(f"{self.kind} must be a class that inherits from {self.base.__name__}, got {cls!r}")
        if not is_dataclass(cls) or "__dataclass_params__" not in cls.__dict__:
            raise ParameterError(f"{cls.__name__} must be a dataclass; write @dataclass(frozen=True) before it")
        if inspect.isabstract(cls):
            missing = ", ".join(sorted(cls.__abstractmethods__))
            raise ParameterError(f"{cls.__name__} must define all methods of a {self.kind}; it has no {missing}")
        for word in ("name", *self.words):
            if not isinstance(getattr(cls, word, None), str) or word in {field.name for field in fields(cls)}:
                raise ParameterError(f'{cls.__name__} must have a {word}; write {word}: ClassVar[str] = "..." in it')
        name = str(getattr(cls, "name", ""))
        if not NAME.fullmatch(name):
            raise ParameterError(
                f"name of a {self.kind} must be of small letters, digits, + and -, got {name!r}; use one like 'ocucb-n'"
            )

    def from_dict(self, data: Mapping[str, Any]) -> Kind:
        """Return what `to_dict` of a registered class described.

        Raises StateError for an unknown name or parameter, ParameterError for a value out of range.
        """
        if not isinstance(data, Mapping) or set(data) != {"name", "parameters"}:
            raise StateError(f'a {self.kind} must be {{"name": ..., "parameters": {{...}}}}, got {data!r}')
        name, parameters = data["name"], data["parameters"]
        cls: Any = self.get(name) if isinstance(name, str) else None
        if cls is None:
            raise StateError(
                f"{self.parameter} must be one of {', '.join(self)}, got {name!r}; build a {self.kind} of your own in "
                f"code, or register its class with ocucb.register in a module that the entry points {GROUP} name"
            )
        known = [field.name for field in fields(cls)]
        if not isinstance(parameters, Mapping) or not set(parameters) <= set(known):
            raise StateError(f"parameters of {name} must be among {known}, got {parameters!r}")
        with warnings.catch_warnings():  # a lost guarantee was said when the policy was first built
            warnings.simplefilter("ignore", GuaranteeWarning)
            try:
                made: Kind = cls(**parameters)
            except TypeError as problem:
                raise StateError(f"parameters of {name} are incomplete: {problem}") from None
        return made

    def __getitem__(self, name: str) -> type[Kind]:
        if name not in self._classes:
            load_plugins()
        return self._classes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._classes))

    def __len__(self) -> int:
        return len(self._classes)


_registries: list[Registry[Any]] = []
_lock = RLock()
_state = {"loaded": False}


def register(cls: Registered) -> Registered:
    """Make a policy or a noise family of your own known by its name, to files, the service and the command.

    It can stand before the class as a decorator. Raises ParameterError if it is neither, or if another has its name.
    """
    for registry in _registries:
        if isinstance(cls, type) and issubclass(cls, registry.base):
            return registry.register(cls)
    kinds = " or ".join(registry.base.__name__ for registry in _registries)
    raise ParameterError(f"what is registered must be a class that inherits from {kinds}, got {cls!r}")


def load_plugins() -> None:
    """Import the modules that entry points of the group `ocucb.plugins` name, once in a process.

    Raises StateError if one of them cannot be imported.
    """
    with _lock:
        if _state["loaded"]:
            return
        _state["loaded"] = True  # before they are imported, for they may ask for names themselves
        for entry in entry_points(group=GROUP):
            try:
                entry.load()
            except Exception as problem:
                _state["loaded"] = False
                raise StateError(
                    f"plugin {entry.name} could not be imported from {entry.value}: {problem}; correct or uninstall it"
                ) from problem
