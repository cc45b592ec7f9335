"""Rows of numbers with numpy's arithmetic. In monty, an operator's method cannot call the app, so arithmetic is done
here, number by number. Making such a row, and everything else numpy does with it, calls the lent functions.
"""

import numpy as _lent_host
import scipy as _lent_host_scipy

_lent_len = len


def _lent_each(function, a, b):
    """Apply `function` to the numbers of `a` and `b`, paired as numpy does."""
    a = a.data if isinstance(a, ndarray) else a
    b = b.data if isinstance(b, ndarray) else b
    if not isinstance(a, (list, tuple)):
        return ndarray([function(a, y) for y in b]) if isinstance(b, (list, tuple)) else function(a, b)
    if not isinstance(b, (list, tuple)):
        return ndarray([function(x, b) for x in a])
    if _lent_len(a) == 1:
        return ndarray([function(a[0], y) for y in b])
    if _lent_len(b) == 1:
        return ndarray([function(x, b[0]) for x in a])
    if _lent_len(a) != _lent_len(b):
        raise ValueError("operands could not be broadcast together")
    return ndarray([function(x, y) for x, y in zip(a, b)])


def _lent_add(x, y):
    return x or y if isinstance(x, bool) and isinstance(y, bool) else x + y


def _lent_mul(x, y):
    return x and y if isinstance(x, bool) and isinstance(y, bool) else x * y


def _lent_truediv(x, y):
    if y != 0:
        return x / y
    if x == 0 or x != x:
        return _lent_math.nan
    return _lent_math.copysign(_lent_math.inf, x) * _lent_math.copysign(1.0, y)


def _lent_floordiv(x, y):
    if y != 0:
        return x // y
    return _lent_truediv(x, y) if isinstance(x, float) or isinstance(y, float) else 0


def _lent_mod(x, y):
    if y != 0:
        return x % y
    return _lent_math.nan if isinstance(x, float) or isinstance(y, float) else 0


def _lent_pow(x, y):
    if isinstance(x, int) and isinstance(y, int) and y < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    try:
        made = x**y
    except ZeroDivisionError:
        return _lent_math.inf
    except OverflowError:
        return -_lent_math.inf if x < 0 and y % 2 == 1 else _lent_math.inf
    return _lent_math.nan if isinstance(made, complex) and not isinstance(x, complex) else made


def _lent_dot(a, b):
    made = _lent_each(_lent_mul, a, b)
    return sum(made.data) if made.shape else made


class ndarray:
    """A row of numbers, or a single one (with an empty shape)."""

    def __init__(self, data):
        self.data = data
        self.size = _lent_len(data) if isinstance(data, list) else 1
        self.shape = (self.size,) if isinstance(data, list) else ()
        self.ndim = _lent_len(self.shape)

    def __iter__(self):
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return iter(self.data)

    def __eq__(self, other):
        return _lent_each(lambda x, y: x == y, self, other)

    def __matmul__(self, other):
        return _lent_dot(self, other)

    def __rmatmul__(self, other):
        return _lent_dot(other, self)

    def __neg__(self):
        return _lent_each(lambda x, y: -x, self, 0)

    def __pos__(self):
        return self

    def __abs__(self):
        return _lent_each(lambda x, y: abs(x), self, 0)

    def __invert__(self):
        return _lent_each(lambda x, y: not x if isinstance(x, bool) else ~x, self, 0)

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __round__(self, digits=0):
        return _lent_each(round, self, digits)

    def __repr__(self):
        return str(self.data)

    # Here follow operators and methods, made in __init__.py.

    def item(self, at=0):
        if self.size != 1 and at == 0:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.data[at] if self.shape else self.data

    def tolist(self):
        return self.data[:] if self.shape else self.data

    def copy(self):
        return ndarray(self.tolist())

    def astype(self, kind):
        return _lent_asked("asarray", self, dtype=kind)

    def flatten(self):
        return ndarray(self.tolist() if self.shape else [self.data])

    def ravel(self):
        return self.flatten()

    def squeeze(self):
        return ndarray(self.data[0]) if self.shape == (1,) else self

    def reshape(self, *shape):
        if shape not in ((-1,), ((-1,),), (self.size,), ((self.size,),)):
            raise NotImplementedError("arrays have one dimension here")
        return self.flatten()

    def fill(self, value):
        self[:] = value

    def sort(self):
        self.data = _lent_asked("sort", self).data

    def _places(self, at):
        if isinstance(at, tuple) and _lent_len(at) == 1:
            at = at[0]
        if at is None or isinstance(at, tuple) and None in at:
            raise NotImplementedError("arrays have one dimension here")
        if isinstance(at, slice):
            return list(range(self.size))[at]
        if at is Ellipsis:
            return list(range(self.size))
        at = at.data if isinstance(at, ndarray) else at
        if isinstance(at, bool):
            at = [at] * self.size
        if not isinstance(at, list):
            raise IndexError("arrays have one dimension here")
        if at and isinstance(at[0], bool):
            if _lent_len(at) != self.size:
                raise IndexError("boolean index did not match indexed array")
            return [k for k, chosen in enumerate(at) if chosen]
        return at

    def __getitem__(self, at):
        if not self.shape:
            if at == ():
                return self.data
            return ndarray([self.data for k in self._places(at)])
        if isinstance(at, int) and not isinstance(at, bool):
            return self.data[at]
        return ndarray([self.data[k] for k in self._places(at)])

    def __setitem__(self, at, value):
        if not self.shape:
            if at == () or self._places(at):
                first = value[0] if isinstance(value, list) or isinstance(value, ndarray) and value.shape else value
                self.data = _lent_like(self.data, first)
            return
        if isinstance(at, int) and not isinstance(at, bool):
            self.data[at] = _lent_like(self.data[0], value)
            return
        places = self._places(at)
        values = value.data if isinstance(value, ndarray) else value
        if not isinstance(values, (list, tuple)):
            values = [values]
        if _lent_len(values) not in (1, _lent_len(places)):
            raise ValueError("cannot assign so many input values to the output values where the mask is true")
        for n, k in enumerate(places):
            self.data[k] = _lent_like(self.data[0], values[n if _lent_len(values) > 1 else 0])


def _lent_like(old, value):
    """Convert a value put into an array to the type of `old`, one of its numbers."""
    if isinstance(value, ndarray):
        value = value.item()
    if isinstance(old, bool):
        return bool(value)
    if isinstance(old, int):
        return int(value)
    return float(value) if isinstance(old, float) else complex(value)


def len(value):
    if isinstance(value, ndarray):
        if not value.shape:
            raise TypeError("len() of unsized object")
        return value.size
    return _lent_len(value)


def _lent_truth(value):
    if isinstance(value, ndarray):
        if value.size != 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous")
        return bool(value.item())
    return value


_lent_kinds = {"float": "float64", "int": "int64", "int32": "int64", "complex": "complex128"}
for _lent_name in ("bool", "float64", "float32", "int64", "complex128"):
    _lent_kinds[_lent_name] = _lent_name


def _lent_kind(kind):
    """Return the name of a number type for the lent functions; None if it is not one."""
    if isinstance(kind, str):
        return _lent_kinds.get(kind)
    for plain, name in ((float, "float64"), (int, "int64"), (bool, "bool"), (complex, "complex128")):
        if kind is plain:
            return name
    for name in ("float64", "float32", "int64", "int32"):
        if kind is getattr(_lent_numpy, name):
            return _lent_kinds[name]
    return None


def _lent_wrapped(value):
    if isinstance(value, list):
        return ndarray(value)
    return tuple([_lent_wrapped(one) for one in value]) if isinstance(value, tuple) else value


_lent_makers = ("array", "asarray", "zeros_like", "ones_like", "full_like", "empty_like")
_lent_typed = (*_lent_makers, "zeros", "ones", "empty", "full", "arange", "linspace", "asfarray")


def _lent_plain(value):
    if isinstance(value, (list, tuple)):
        return [one.item() if isinstance(one, ndarray) and one.size == 1 else one for one in value]
    return value


def _lent_asked(name, *args, **named):
    """Call a lent function and return its result, with lists as arrays."""
    if name in _lent_typed:
        if _lent_len(args) > 1 and _lent_kind(args[-1]) is not None:
            named["dtype"] = args[-1]
            args = args[:-1]
        if "dtype" in named:
            kind = named.pop("dtype")
            if kind is not None:
                named["dtype"] = _lent_kind(kind)
        named.pop("copy", None)
    if name == "concatenate" or name == "hstack":
        args = [[_lent_listed(one) for one in args[0]]]
        args = [[number for row in args[0] for number in row]]
        name = "array"
    else:
        args = [_lent_plain(one) for one in args]
    value = _lent_wrapped(getattr(_lent_host, name)(*args, **named))
    if name in _lent_makers and not isinstance(value, ndarray):
        return ndarray(value)
    return value


def _lent_listed(value):
    if isinstance(value, ndarray):
        return value.data if value.shape else [value.data]
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _lent_asking(name):
    return lambda *args, **named: _lent_asked(name, *args, **named)
