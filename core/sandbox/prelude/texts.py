"""For every program: features of Python's texts, lists and modules that monty lacks."""

import re as _lent_re
import string as _lent_string_names
import random as _lent_own_random
import itertools as _lent_itertools
import math as _lent_math


def _lent_module(made, names):
    for name in names:
        setattr(made, name, names[name])
    return made


def callable(value):
    return isinstance(value, type(_lent_module)) or isinstance(value, type(len)) or hasattr(value, "__call__")


def _lent_bound(owner, name):
    if isinstance(owner, (str, list, dict, tuple, set, frozenset)):
        return lambda *args, **named: _lent_methods[name](owner, *args, **named)
    return getattr(owner, name)


def _lent_of_number(owner, name, *args, **named):
    if name == "copy" and isinstance(owner, (list, dict, set)):
        return owner.copy()
    if not isinstance(owner, (bool, int, float, complex)):
        return getattr(owner, name)(*args, **named)
    if name == "is_integer":
        return owner == int(owner) if owner - owner == 0 else False
    if name == "bit_length":
        return len(bin(abs(owner))) - 2 if owner else 0
    if name == "astype":
        return args[0](owner)
    if name == "round":
        return round(owner, *args)
    if name == "clip":
        return min(max(owner, args[0]), args[1])
    if name == "conjugate" and isinstance(owner, complex):
        return complex(owner.real, -owner.imag)
    return bool(owner) if name in ("any", "all") else owner


def _lent_delete(owner, at):
    if isinstance(owner, list):
        gone = set(range(len(owner))[at]) if isinstance(at, slice) else {at if at >= 0 else at + len(owner)}
        if not isinstance(at, slice):
            owner[at]
        owner[:] = [one for k, one in enumerate(owner) if k not in gone]
    else:
        owner.pop(at)


def _lent_maketrans(first, *others):
    if not others:
        return {ord(key) if isinstance(key, str) else key: first[key] for key in first}
    if len(first) != len(others[0]):
        raise ValueError("the first two maketrans arguments must have equal length")
    table = {ord(a): b for a, b in zip(first, others[0])}
    for gone in others[1:]:
        for character in gone:
            table[ord(character)] = None
    return table


def _lent_translate_of(text, table):
    if not isinstance(text, str):
        return text.translate(table)
    made = []
    for character in text:
        to = table.get(ord(character), character)
        if to is not None:
            made.append(to if isinstance(to, str) else chr(to))
    return "".join(made)


def _lent_re_sub(pattern, repl, string, count=0, flags=0):
    if isinstance(repl, str):
        if isinstance(pattern, str):
            return _lent_re.sub(pattern, repl, string, count, flags)
        return pattern.sub(repl, string, count)
    if isinstance(pattern, str):
        pattern = _lent_re.compile(pattern, flags)
    made = []
    last = 0
    for k, match in enumerate(pattern.finditer(string)):
        if count and k >= count:
            break
        made.append(string[last : match.start()])
        made.append(repl(match))
        last = match.end()
    return "".join(made) + string[last:]


def _lent_sub_of(owner, *args, **named):
    if isinstance(owner, _lent_re.Pattern):
        return _lent_re_sub(owner, *args, **named)
    return owner.sub(*args, **named)


def _lent_capwords(text, sep=None):
    return (sep or " ").join([word.capitalize() for word in text.split(sep)])


def _lent_itemgetter(*keys):
    if len(keys) == 1:
        return lambda value: value[keys[0]]
    return lambda value: tuple([value[key] for key in keys])


_lent_string = _lent_module(lent_string(), {
    'capwords': _lent_capwords,
    **{name: getattr(_lent_string_names, name) for name in ('ascii_letters', 'ascii_lowercase', 'ascii_uppercase',
       'digits', 'hexdigits', 'octdigits', 'punctuation', 'printable', 'whitespace')},
})  # fmt: skip
_lent_operator = _lent_module(lent_operator(), {
    'add': lambda a, b: a + b, 'sub': lambda a, b: a - b, 'mul': lambda a, b: a * b, 'truediv': lambda a, b: a / b,
    'floordiv': lambda a, b: a // b, 'mod': lambda a, b: a % b, 'pow': lambda a, b: a ** b, 'neg': lambda a: -a,
    'xor': lambda a, b: a ^ b, 'and_': lambda a, b: a & b, 'or_': lambda a, b: a | b, 'eq': lambda a, b: a == b,
    'ne': lambda a, b: a != b, 'lt': lambda a, b: a < b, 'le': lambda a, b: a <= b, 'gt': lambda a, b: a > b,
    'ge': lambda a, b: a >= b, 'concat': lambda a, b: a + b, 'contains': lambda a, b: b in a,
    'getitem': lambda a, b: a[b], 'itemgetter': _lent_itemgetter,
})  # fmt: skip


def _lent_mean(values):
    values = list(values)
    if not values:
        raise ValueError("mean requires at least one data point")
    return _lent_math.fsum(values) / len(values)


def _lent_middle(values):
    values = sorted(values)
    if not values:
        raise ValueError("no median for empty data")
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def _lent_spread(values, less):
    values = list(values)
    if len(values) <= less:
        raise ValueError("variance requires more data points")
    middle = _lent_mean(values)
    return _lent_math.fsum([(v - middle) ** 2 for v in values]) / (len(values) - less)


def _lent_mode(values):
    counts = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return max(counts, key=lambda value: counts[value])


_lent_statistics = _lent_module(lent_statistics(), {
    'mean': _lent_mean, 'fmean': _lent_mean, 'median': _lent_middle, 'mode': _lent_mode,
    'variance': lambda values: _lent_spread(values, 1), 'pvariance': lambda values: _lent_spread(values, 0),
    'stdev': lambda values: _lent_spread(values, 1) ** 0.5, 'pstdev': lambda values: _lent_spread(values, 0) ** 0.5,
})  # fmt: skip
_lent_heapq = _lent_module(lent_heapq(), {
    'nsmallest': lambda n, values, key=None: sorted(values, key=key)[:max(n, 0)],
    'nlargest': lambda n, values, key=None: sorted(values, key=key, reverse=True)[:max(n, 0)],
})  # fmt: skip
_lent_warnings = _lent_module(lent_warnings(), {
    'filterwarnings': lambda *args, **named: None, 'simplefilter': lambda *args, **named: None,
    'warn': lambda *args, **named: None,
})  # fmt: skip
