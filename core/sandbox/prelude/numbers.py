"""For programs that name numpy or scipy. Whatever calls a program's own functions is here and not among the lent
functions, so that a callback of `np.piecewise` that never ends is stopped like any other code.
"""


def _lent_piecewise(x, conditions, functions, *args, **named):
    row = isinstance(x, (list, tuple)) or (isinstance(x, ndarray) and x.shape)
    values = _lent_listed(x)
    if not isinstance(conditions, (list, tuple)) or (row and conditions and isinstance(conditions[0], bool)):
        conditions = [conditions]
    masks = []
    for condition in conditions:
        mask = _lent_listed(condition)
        masks.append(mask if _lent_len(mask) == _lent_len(values) else mask * _lent_len(values))
    functions = list(functions)
    if _lent_len(functions) == _lent_len(masks) + 1:
        masks.append([not any([mask[k] for mask in masks]) for k in range(_lent_len(values))])
    if _lent_len(functions) != _lent_len(masks):
        raise ValueError(
            "with {} condition(s), either {} or {} functions are expected".format(
                _lent_len(masks), _lent_len(masks), _lent_len(masks) + 1
            )
        )
    made = [_lent_like(value, 0) for value in values]
    for mask, function in zip(masks, functions):
        places = [k for k in range(_lent_len(values)) if mask[k]]
        if not places:
            continue
        if callable(function):
            chosen = ndarray([values[k] for k in places]) if row else values[0]
            got = _lent_listed(function(chosen, *args, **named))
        else:
            got = _lent_listed(function)
        for n, k in enumerate(places):
            made[k] = _lent_like(values[k], got[n if _lent_len(got) > 1 else 0])
    return ndarray(made) if row else made[0]


def _lent_select(conditions, choices, default=0):
    if _lent_len(conditions) != _lent_len(choices):
        raise ValueError("list of cases must be same length as list of conditions")
    made = default
    for condition, choice in reversed(list(zip(conditions, choices))):
        made = _lent_asked("where", condition, choice, made)
    return made


class _lent_vectorize:
    def __init__(self, function=None, otypes=None, **named):
        self.function = function

    def __call__(self, *args, **named):
        if self.function is None:
            return _lent_vectorize(args[0])
        rows = [_lent_listed(one) for one in args]
        length = max([_lent_len(row) for row in rows])
        plain = [not isinstance(one, (list, tuple)) and not (isinstance(one, ndarray) and one.shape) for one in args]
        made = [self.function(*[row[k if _lent_len(row) > 1 else 0] for row in rows], **named) for k in range(length)]
        return made[0] if all(plain) else _lent_asked("array", made)


class _lent_poly1d:
    def __init__(self, coefficients):
        given = coefficients.coeffs if isinstance(coefficients, _lent_poly1d) else coefficients
        given = _lent_listed(given)
        while _lent_len(given) > 1 and given[0] == 0:
            given = given[1:]
        self.coeffs = ndarray(given)
        self.coef = self.c = self.coefficients = self.coeffs
        self.order = self.o = self.coeffs.size - 1

    def __call__(self, x):
        return _lent_asked("polyval", self.coeffs, x)

    def __mul__(self, other):
        a, b = self.coeffs.data, _lent_poly1d(other).coeffs.data
        made = [0] * (_lent_len(a) + _lent_len(b) - 1)
        for i, x in enumerate(a):
            for k, y in enumerate(b):
                made[i + k] += x * y
        return _lent_poly1d(made)

    def __rmul__(self, other):
        return self * other

    def __add__(self, other):
        a, b = self.coeffs.data, _lent_poly1d(other).coeffs.data
        longest = max(_lent_len(a), _lent_len(b))
        a, b = [0] * (longest - _lent_len(a)) + a, [0] * (longest - _lent_len(b)) + b
        return _lent_poly1d([x + y for x, y in zip(a, b)])

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        return self + _lent_poly1d(other) * -1

    def __rsub__(self, other):
        return self * -1 + other

    def __pow__(self, power):
        made = _lent_poly1d([1])
        for _ in range(power):
            made = made * self
        return made

    def __neg__(self):
        return self * -1

    def __getitem__(self, power):
        return self.coeffs.data[self.order - power] if 0 <= power <= self.order else 0

    def deriv(self, m=1):
        return _lent_poly1d(_lent_asked("polyder", self.coeffs)) if m == 1 else self.deriv().deriv(m - 1)


class _lent_Polynomial:
    def __init__(self, coef, **named):
        self.coef = ndarray(_lent_listed(coef))

    def __call__(self, x):
        return _lent_asked("polyval", self.coef[::-1], x)


class lent_numpy_random:
    """One of numpy's generators; here it is only a number, and the lent module holds its state."""

    def __init__(self, number):
        self.number = number


def _lent_draws(number):
    made = lent_numpy_random(number)
    for name in _lent_host.random_numbers.names:
        setattr(made, name, _lent_drawing(number, name))
    return made


def _lent_drawing(number, name):
    def draw(*args, **named):
        return _lent_wrapped(_lent_host.random_numbers.draw(number, name, *[_lent_plain(one) for one in args], **named))

    return draw


class _lent_nothing:
    """A type without values."""


_lent_numpy = _lent_module(lent_numpy(), {name: _lent_asking(name) for name in _lent_host.names})
for _lent_name in _lent_host.constants:
    setattr(_lent_numpy, _lent_name, getattr(_lent_host, _lent_name))
_lent_numpy.ndarray = ndarray
_lent_numpy.piecewise = _lent_piecewise
_lent_numpy.select = _lent_select
_lent_numpy.vectorize = _lent_vectorize
_lent_numpy.frompyfunc = lambda function, inputs, outputs: _lent_vectorize(function)
_lent_numpy.poly1d = _lent_poly1d
_lent_numpy.polynomial = _lent_module(lent_numpy_polynomial(), {"Polynomial": _lent_Polynomial})
_lent_numpy.polynomial.polynomial = _lent_module(
    lent_numpy_polynomial_polynomial(), {"Polynomial": _lent_Polynomial, "polyval": lambda x, c: _lent_Polynomial(c)(x)}
)
_lent_numpy.newaxis = None
_lent_numpy.number = _lent_numpy.integer = _lent_numpy.floating = _lent_numpy.generic = _lent_nothing
_lent_numpy.seterr = lambda *args, **named: {}
_lent_numpy.set_printoptions = lambda *args, **named: None
_lent_numpy.random = _lent_draws(0)
_lent_numpy.random.default_rng = lambda seed=None: _lent_draws(_lent_host.random_numbers.generator(seed))
_lent_numpy.random.RandomState = _lent_numpy.random.default_rng
_lent_numpy.random.seed = lambda seed=None: _lent_host.random_numbers.seed(seed)


def _lent_scipy_asking(path, name):
    part = getattr(_lent_host_scipy, path)
    return lambda *args, **named: _lent_wrapped(part.call(name, *[_lent_plain(one) for one in args], **named))


_lent_whats = ("pdf", "pmf", "cdf", "sf")


def _lent_distribution(name):
    made = {what: _lent_scipy_asking("stats", name + "." + what) for what in _lent_whats}
    return _lent_module(_lent_Distribution(), made)


class _lent_Distribution:
    def __call__(self, *given, **named):
        """Return the frozen distribution, with its parameters fixed."""

        def frozen(function):
            return lambda x: function(x, *given, **named)

        return _lent_module(_lent_Distribution(), {what: frozen(getattr(self, what)) for what in _lent_whats})


def _lent_part(made, path):
    return _lent_module(made, {name: _lent_scipy_asking(path, name) for name in getattr(_lent_host_scipy, path).names})


_lent_scipy = _lent_module(
    lent_scipy(),
    {
        "stats": _lent_module(
            lent_scipy_stats(), {one: _lent_distribution(one) for one in _lent_host_scipy.stats.names}
        ),
        "special": _lent_part(lent_scipy_special(), "special"),
        "signal": _lent_part(lent_scipy_signal(), "signal"),
        "constants": _lent_module(lent_scipy_constants(), {"pi": _lent_math.pi}),
    },
)
