"""Parameters, and their values in Python and in a study."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

Value = Any
_NONE = object()


class Parameter:
    """One parameter. `when` is a condition on others, as in a study file. If it is false, there is no value."""

    kind = ""

    def __init__(self, default: Value = _NONE, when: Optional[str] = None, unit: Optional[str] = None) -> None:
        self.default, self.when, self.unit = default, when, unit

    def definition(self) -> Dict[str, Any]:
        d: Dict[str, Any] = {"type": self.kind}
        if self.default is not _NONE:
            d["default"] = self.text(self.default)
        if self.when is not None:
            d["when"] = self.when
        if self.unit is not None:
            d["unit"] = self.unit
        return d

    def text(self, value: Value) -> Any:
        return value

    def value(self, told: Any) -> Value:
        return told


class _Number(Parameter):
    def __init__(
        self, low: float, high: float, *, step: Optional[float] = None, log: bool = False, **more: Any
    ) -> None:
        super().__init__(**more)
        if not (math.isfinite(low) and math.isfinite(high)):
            raise ValueError(f"bounds are finite, not {low} to {high}")
        self.low, self.high, self.step, self.log = low, high, step, log

    def definition(self) -> Dict[str, Any]:
        d = super().definition()
        d["min"], d["max"] = self.low, self.high
        if self.step is not None:
            d["step"] = self.step
        if self.log:
            d["log"] = True
        return d


class Float(_Number):
    """A real number from low to high, both inclusive."""

    kind = "real"

    def value(self, told: Any) -> float:
        return float(told)


class Int(_Number):
    """A whole number from low to high, both inclusive."""

    kind = "int"

    def value(self, told: Any) -> int:
        return int(told)


def _told(text: str) -> Any:
    """Return the identity of a value: numbers are compared as numbers, however they were written."""
    try:
        return float(text)
    except ValueError:
        return text


class Categorical(Parameter):
    """One of some values: texts, numbers, True, False or None."""

    kind = "categorical"

    def __init__(self, values: Sequence[Value], **more: Any) -> None:
        super().__init__(**more)
        self.values = list(values)
        self._of = {_told(self.text(v)): v for v in self.values}
        if len(self._of) != len(self.values):
            raise ValueError(f"two of the values {self.values!r} are written alike")

    def definition(self) -> Dict[str, Any]:
        d = super().definition()
        d["values"] = [self.text(v) for v in self.values]
        return d

    def text(self, value: Value) -> str:
        if value is None or isinstance(value, bool):
            return str(value).lower()
        if not isinstance(value, (str, int, float)):
            raise TypeError(f"a value is a text, a number, True, False or None, not {value!r}")
        return value if isinstance(value, str) else repr(value)

    def value(self, told: Any) -> Value:
        key = _told(told if isinstance(told, str) else self.text(told))
        if key not in self._of:
            raise ValueError(f"{told!r} is not one of {self.values!r}")
        return self._of[key]


class Bool(Parameter):
    """True or False."""

    kind = "bool"

    def text(self, value: Value) -> str:
        return "true" if value else "false"

    def value(self, told: Any) -> bool:
        return told is True or told == "true"


class Permutation(Parameter):
    """An order of texts, as a list."""

    kind = "permutation"

    def __init__(self, values: Sequence[str], **more: Any) -> None:
        super().__init__(**more)
        self.values = list(values)

    def definition(self) -> Dict[str, Any]:
        d = super().definition()
        d["values"] = self.values
        return d

    def text(self, value: Value) -> str:
        return ",".join(value)

    def value(self, told: Any) -> List[str]:
        return told.split(",") if isinstance(told, str) else list(told)


Short = Union[Parameter, Sequence[Any], range, Mapping[str, Any]]


def parameter(short: Short) -> Parameter:
    """Return the parameter of a short form: (low, high) or a range of numbers, or a list of values."""
    if isinstance(short, Parameter):
        return short
    if isinstance(short, range):
        if not short or short.step < 1:
            raise ValueError(f"{short!r} has no values in order")
        return Int(short[0], short[-1], step=short.step if short.step > 1 else None)
    if isinstance(short, Mapping):
        return _defined(short)
    if isinstance(short, tuple):
        if len(short) != 2 or not all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in short):
            raise ValueError(f"{short!r} is not a pair of bounds (low, high); give values as a list")
        low, high = short
        whole = isinstance(low, int) and isinstance(high, int)
        return Int(low, high) if whole else Float(float(low), float(high))
    if isinstance(short, list):
        return Categorical(short)
    raise TypeError(f"{short!r} is not a parameter: use (low, high), [values], or assay.Float, Int, Categorical, ...")


def _defined(d: Mapping[str, Any]) -> Parameter:
    """Return the parameter of a definition, as a study on record has it."""
    kind = d.get("type")
    more: Dict[str, Any] = {k: d[k] for k in ("when", "unit") if d.get(k)}
    p: Parameter
    if kind in ("int", "real"):
        number = Int if kind == "int" else Float
        p = number(d.get("min", 0), d.get("max", 0), step=d.get("step"), log=bool(d.get("log")), **more)
    elif kind in ("categorical", "ordinal"):
        p = Categorical([_read(v) for v in d["values"]], **more)
        p.kind = kind
    elif kind == "bool":
        p = Bool(**more)
    elif kind == "permutation":
        p = Permutation(d["values"], **more)
    else:
        raise ValueError(f"a parameter of the type {kind!r}")
    if "default" in d:
        p.default = p.value(d["default"])
    return p


def _read(text: str) -> Value:
    """Return the value of a text on record: a number, True or False where it is written as one."""
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            x = number(text)
        except ValueError:
            continue
        return x if math.isfinite(x) else text
    return text


def space_of(shorts: Mapping[str, Short]) -> Dict[str, Parameter]:
    """Return the parameters by their names. The error names the one that is wrong."""
    space = {}
    for name, short in shorts.items():
        try:
            space[name] = parameter(short)
        except (TypeError, ValueError) as e:
            raise type(e)(f"parameter {name}: {e}") from None
    return space
