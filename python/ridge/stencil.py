"""Stencils on structured grids, from a Python function or weights: any border, many steps per call, on any device.

>>> import numpy as np
>>> from ridge import stencil
>>> def step(u):
...     return u[0, 0] + 0.1 * (u[-1, 0] + u[1, 0] + u[0, -1] + u[0, 1] - 4 * u[0, 0])
>>> u = np.zeros((64, 64), np.float32)
>>> u[32, 32] = 100
>>> v = stencil.run(step, u, steps=50, border="mirror")
>>> bool(abs(v.sum() - 100) < 1e-3), bool(v[32, 32] < 10)
(True, True)

A function is traced: it is called once, with objects that record the operations. `u[dy, dx]` is the neighbour at that offset.
Supported are arithmetic and `min`, `max`, `abs`, `sqrt`, `fma` and `select` of this module. The function has one parameter per
field, and keyword-only parameters for per-cell coefficients. It becomes vector code or a device kernel; Python is not called again.

>>> waves = stencil.update(lambda u, before: (2 * u[0] - before[0] + 0.25 * (u[-1] - 2 * u[0] + u[1]), u[0]))
>>> waves.fields, waves.dimensions
(2, 1)
>>> def conduct(u, *, k):
...     return u[0] + k[0] * (u[-1] - 2 * u[0] + u[1])
>>> stencil.update(conduct).coefficients
1
"""
import collections.abc
import inspect
import operator

import numpy as np

from . import _ridge
from ._pickled import Pickled
from ._picture import Shown
from ._wave import Wave
from .array import Array, asarray, device_name

__all__ = ["update", "Update", "plan", "Plan", "Session", "run", "heat", "wave", "euler", "life", "Wave",
           "min", "max", "abs", "sqrt", "fma", "select"]

_plain_min, _plain_max, _plain_abs = min, max, abs


class Value:
    """A symbolic number: the operand of an update function while it is traced."""

    __slots__ = ("_expression", "_truth")
    __array_ufunc__ = None  # makes numpy.float32(2) * u[0, 0] call __rmul__

    def __init__(self, expression, truth=False):
        self._expression, self._truth = expression, truth

    def __bool__(self):
        raise TypeError("an update function cannot branch on values: use ridge.stencil.select(condition, yes, no)")

    def __add__(self, other):
        return _node("add", self, other)

    def __radd__(self, other):
        return _node("add", other, self)

    def __sub__(self, other):
        return _node("subtract", self, other)

    def __rsub__(self, other):
        return _node("subtract", other, self)

    def __mul__(self, other):
        return _node("multiply", self, other)

    def __rmul__(self, other):
        return _node("multiply", other, self)

    def __truediv__(self, other):
        return _node("divide", self, other)

    def __rtruediv__(self, other):
        return _node("divide", other, self)

    def __neg__(self):
        return _node("negate", self)

    def __pos__(self):
        return self

    def __abs__(self):
        return _node("absolute", self)

    def __pow__(self, power):
        power = operator.index(power)
        if not 1 <= power <= 64:
            raise ValueError(f"the power must be in 1 to 64, got {power}")
        result = self
        for _ in range(power - 1):
            result = result * self
        return result

    def __lt__(self, other):
        return _node("less", self, other, truth=True)

    def __le__(self, other):
        return _node("less_equal", self, other, truth=True)

    def __gt__(self, other):
        return _node("less", other, self, truth=True)

    def __ge__(self, other):
        return _node("less_equal", other, self, truth=True)

    def __eq__(self, other):
        return _node("equal", self, other, truth=True)

    def __ne__(self, other):
        return ~(self == other)

    __hash__ = None

    def __and__(self, other):
        return _logic("both", self, other)

    def __or__(self, other):
        return _logic("either", self, other)

    def __invert__(self):
        return _logic("opposite", self)


def _value(x):
    if isinstance(x, Value):
        if x._truth:
            raise TypeError("needs a number, got a comparison: use ridge.stencil.select(condition, yes, no)")
        return x._expression
    if isinstance(x, Field):
        raise TypeError(f"needs a number, got the field {x._name}: index it, {x._name}[0, 0]")
    try:
        return _ridge.constant(float(x))
    except (TypeError, ValueError):
        raise TypeError(f"an update function needs values and numbers, got {type(x).__name__}") from None


def _node(name, *operands, truth=False):
    return Value(_ridge.operation(name, [_value(x) for x in operands]), truth)


def _logic(name, *operands):
    for x in operands:
        if not isinstance(x, Value) or not x._truth:
            raise TypeError("& | ~ need comparisons of values")
    return Value(_ridge.operation(name, [x._expression for x in operands]), True)


def _any_value(*operands):
    return any(isinstance(x, (Value, Field)) for x in operands)


def min(a, b):
    """The smaller of a and b; a if they are equal or b is NaN."""
    return _node("minimum", a, b) if _any_value(a, b) else _plain_min(a, b)


def max(a, b):
    """The larger of a and b; a if they are equal or b is NaN."""
    return _node("maximum", a, b) if _any_value(a, b) else _plain_max(a, b)


def abs(a):
    """The absolute value."""
    return _node("absolute", a) if _any_value(a) else _plain_abs(a)


def sqrt(a):
    """The square root; not available for integer cells."""
    return _node("sqrt", a)


def fma(a, b, c):
    """a * b + c, rounded once."""
    return _node("fma", a, b, c)


def select(truth, yes, no):
    """yes if the condition holds, else no; both are computed.

    >>> from ridge import stencil
    >>> limited = stencil.update(lambda u: stencil.select(u[0] > 1, 1, u[0]))
    >>> stencil.run(limited, np.array([0.5, 2.0], np.float32), border="mirror")
    array([0.5, 1. ], dtype=float32)
    """
    if not isinstance(truth, Value) or not truth._truth:
        raise TypeError("the first argument of select must be a comparison of values")
    return Value(_ridge.operation("select", [truth._expression, _value(yes), _value(no)]))


class Field:
    """A field or coefficient array of an update function: index it with offsets, slowest axis first."""

    __array_ufunc__ = None

    def __init__(self, name, make, index, seen):
        self._name, self._make, self._index, self._seen = name, make, index, seen

    def __getitem__(self, offset):
        offset = offset if isinstance(offset, tuple) else (offset,)
        try:
            offset = tuple(operator.index(o) for o in offset)
        except TypeError:
            raise TypeError(f"{self._name}{list(offset)}: offsets must be integers") from None
        if not 1 <= len(offset) <= 3:
            raise ValueError(f"{self._name}{list(offset)}: needs one, two or three offsets, one per axis")
        if self._seen and self._seen[0] != len(offset):
            raise ValueError(f"{self._name}{list(offset)}: {len(offset)} offsets here, but {self._seen[0]} elsewhere")
        self._seen.append(len(offset))
        return Value(self._make(self._index, offset))

    def __call__(self, *offset):
        return self[offset]

    def _wrong(self, *_):
        raise TypeError(f"arithmetic needs a value, got the field {self._name}: index it, {self._name}[0, 0]")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = _wrong


class _Recipe:
    """Makes an update for a cell type by a function of the extension module."""

    def __init__(self, name, *arguments):
        self.name, self.arguments = name, arguments

    def __call__(self, cells):
        return getattr(_ridge, self.name)(cells, *self.arguments)


class _Traced(_Recipe):
    """The recipe of a traced function, which is pickled by its name."""

    def __init__(self, function, *arguments):
        super().__init__("recorded_update", *arguments)
        self.function = function


class Update:
    """The update of a cell in one step, for any cell type."""

    def __init__(self, make, dimensions, fields, coefficients, name):
        self._make, self.dimensions, self.fields, self.coefficients, self.name = make, dimensions, fields, coefficients, name
        self._known = {}

    def __reduce__(self):
        if isinstance(self._make, _Traced):
            return update, (self._make.function,)
        return Update, (self._make, self.dimensions, self.fields, self.coefficients, self.name)

    def _for(self, dtype):
        name = np.dtype(dtype).name
        if name not in self._known:
            self._known[name] = self._make(name)
        return self._known[name]

    def linear(self, dtype=np.float32):
        """True if the update is a weighted sum of neighbours, which the fastest kernels need."""
        return self._for(dtype).linear

    def flops(self, dtype=np.float32):
        """Floating-point operations per cell."""
        return self._for(dtype).flops

    def __repr__(self):
        return (f"<ridge.stencil.Update {self.name}: {self.dimensions}D, {self.fields} "
                f"field{'s' if self.fields != 1 else ''}, {self.coefficients} coefficients>")


def _traced(function):
    parameters = inspect.signature(function).parameters.values()
    kinds = inspect.Parameter
    fields = [p.name for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    coefficients = [p.name for p in parameters if p.kind == kinds.KEYWORD_ONLY]
    if not fields or len(fields) + len(coefficients) != len(parameters):
        raise TypeError("an update function needs one parameter per field, and keyword-only ones for coefficients; no * or **")
    seen = []
    result = function(*[Field(name, _ridge.read, i, seen) for i, name in enumerate(fields)],
                      **{name: Field(name, _ridge.coefficient, i, seen) for i, name in enumerate(coefficients)})
    result = result if isinstance(result, (tuple, list)) else (result,)
    if len(result) != len(fields):
        raise ValueError(f"the function has {len(fields)} fields and returns {len(result)} values: return one per field")
    if not seen:
        raise ValueError("the function reads no neighbour: u[0, 0] is the cell itself")
    outputs = [_value(x) for x in result]
    return Update(_Traced(function, seen[0], outputs), seen[0], len(fields), len(coefficients),
                  getattr(function, "__name__", "function"))


def _weighted(weights):
    terms, dimensions = [], set()
    for offset, weight in weights.items():
        offset = offset if isinstance(offset, tuple) else (offset,)
        dimensions.add(len(offset))
        terms.append(([operator.index(o) for o in offset], float(weight), 0, 0))
    if len(dimensions) != 1:
        raise ValueError("all offsets must have the same length, such as (dy, dx)" if dimensions else "needs at least one offset")
    dimensions = dimensions.pop()
    return Update(_Recipe("linear_update", dimensions, terms), dimensions, 1, 0, f"{len(terms)}-point")


def update(what):
    """An update from a function (it is traced), from a dict of offsets and weights, or from an array of weights.

    >>> from ridge import stencil
    >>> mean = stencil.update({(-1,): 0.25, (0,): 0.5, (1,): 0.25})
    >>> stencil.run(mean, np.array([0.0, 0, 4, 0, 0]), border="periodic")
    array([0., 1., 2., 1., 0.])
    >>> stencil.update(np.full((3, 3), 1 / 9)).linear()
    True
    """
    if isinstance(what, Update):
        return what
    if callable(what):
        return _traced(what)
    if isinstance(what, collections.abc.Mapping):  # not a pandas Series, which has items() too
        return _weighted(what)
    weights = np.asarray(what, float)
    if not 1 <= weights.ndim <= 3 or any(n % 2 == 0 for n in weights.shape):
        raise ValueError(f"an array of weights needs one to three axes of odd lengths, got the shape {weights.shape}")
    middle = [n // 2 for n in weights.shape]
    return _weighted({tuple(int(i - m) for i, m in zip(at, middle)): weights[at]
                      for at in np.ndindex(*weights.shape) if weights[at] != 0})


def heat(alpha, dt, spacing, accuracy=2):
    """u_t = alpha (u_xx + ...). ValueError with dt and its bound if dt is too long. spacing: one number per axis.

    >>> from ridge import stencil
    >>> stencil.heat(alpha=1.0, dt=0.1, spacing=(1.0, 1.0)).fields
    1
    """
    spacing = [float(h) for h in np.atleast_1d(spacing)]
    made = Update(_Recipe("heat_update", alpha, dt, spacing, accuracy), len(spacing), 1, 0, "heat")
    made._for(np.float64)
    return made


def wave(speed, dt, spacing):
    """u_tt = speed^2 (u_xx + ...); two fields: the current and the previous step."""
    spacing = [float(h) for h in np.atleast_1d(spacing)]
    made = Update(_Recipe("wave_update", speed, dt, spacing), len(spacing), 2, 0, "wave")
    made._for(np.float64)
    return made


def euler(dt, dy=1.0, dx=1.0, gamma=1.4):
    """Euler equations of a gas in two dimensions; fields: density, momentum along x, momentum along y, energy."""
    return Update(_Recipe("euler_update", gamma, dt, dy, dx), 2, 4, 0, "euler")


def life(rule="B3/S23"):
    """Cellular automata on cells of 0 and 1, uint8 or int32.

    >>> from ridge import stencil
    >>> blinker = np.zeros((5, 5), np.uint8); blinker[2, 1:4] = 1
    >>> stencil.run(stencil.life(), blinker, border="periodic").T.tolist() == blinker.tolist()
    True
    """
    made = Update(_Recipe("life_update", rule), 2, 1, 0, f"life {rule}")
    made._for(np.uint8)
    return made


def _borders(border, axes):
    """Borders (low, high) from one name for all sides, or one per axis: a name or a pair (low, high)."""
    if isinstance(border, str):
        border = [border] * axes
    border = list(border)
    if len(border) != axes:
        raise ValueError(f"needs {axes} borders, one per axis, got {len(border)}")
    pairs = [(side, side) if isinstance(side, str) else tuple(side) for side in border]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError("a border must be a name or a pair of names, (low, high)")
    return [low for low, _ in pairs], [high for _, high in pairs]


def _readable(x):
    """x itself, or a contiguous copy if it is broadcast (a stride of 0)."""
    if x is None:
        return None
    x = np.asarray(x)
    return np.ascontiguousarray(x) if 0 in x.strides else x


def _writable(u):
    """u, to be changed in place. An object without the buffer protocol is rejected: it may convert to a copy of itself."""
    try:
        memoryview(u)
    except TypeError:
        raise TypeError(f"the grid is stepped in place and must be an array, not {type(u).__name__}: pass the array in it, or "
                        f"call the plan for a new one") from None
    return u


def _read_only(u):
    """True if another library's array declares its memory read-only (JAX's arrays are constant)."""
    if hasattr(u, "__cuda_array_interface__"):
        return u.__cuda_array_interface__["data"][1]
    on_host = hasattr(u, "__dlpack_device__") and u.__dlpack_device__()[0] == 1
    return on_host and hasattr(u, "__array__") and not isinstance(u, Array) and not np.asarray(u).flags.writeable


class Session:
    """A grid kept in the memory of its plan's device: steps without transfers to the host.

    >>> from ridge import stencil
    >>> u = np.zeros(16, np.float32); u[8] = 1
    >>> session = stencil.plan({-1: 0.25, 0: 0.5, 1: 0.25}, u, border="periodic").start(u)
    >>> session.run(10); session.run(5)
    >>> session.steps, float(session.read().sum())
    (15, 1.0)
    """

    def __init__(self, session, shape, dtype):
        self._session, self._shape, self._dtype = session, shape, dtype

    def run(self, steps=1):
        """Advances the grid by `steps` steps."""
        self._session.run(operator.index(steps))

    def change(self, norm="max"):
        """Advances one step and returns the change it made: norm "max" or "l2"."""
        return self._session.change(norm)

    @property
    def steps(self):
        """Number of steps so far."""
        return self._session.steps()

    def read(self, out=None):
        """The current grid, in `out` or in a new array."""
        out = np.empty(self._shape, self._dtype) if out is None else out
        self._session.read(out)
        return out


class Plan(Pickled, Shown):
    """A planned update for one grid: shape, cell type, borders, device.

    >>> from ridge import stencil
    >>> p = stencil.plan(stencil.heat(1.0, 0.2, (1.0, 1.0)), np.zeros((32, 32)), border="mirror")
    >>> u = np.random.default_rng(1).random((32, 32))
    >>> stop = p.run_until(u, 1e-9)
    >>> stop["converged"], bool(np.ptp(u) < 1e-5)
    (True, True)
    """

    def __init__(self, made, shape, dtype, border, device, workers, measured):
        low, high = _borders(border, made.dimensions)
        cells = shape[len(shape) - made.dimensions:]
        self.shape, self.dtype, self.update = tuple(shape), np.dtype(dtype), made
        self._plan = _ridge.StencilPlan(made._for(dtype), list(cells), low, high, device_name(device), workers or 0, measured)

    @property
    def device(self):
        """The device it runs on: "host", "opencl:0", "cuda:0"."""
        return self._plan.device()

    @property
    def flops(self):
        """Floating-point operations per step."""
        return self._plan.flops()

    @property
    def bytes(self):
        """Bytes per step, with each cell read once and written once."""
        return self._plan.bytes()

    @property
    def source(self):
        """The generated kernel sources; empty on the host."""
        return self._plan.source()

    def run(self, u, steps=1, coefficients=None):
        """Advances u in place: a NumPy array of the plan's shape and type with any strides, or an array on its device.

        >>> from ridge import stencil
        >>> picture = np.zeros((6, 8, 3), np.float32); picture[3, 4, 1] = 9
        >>> mean = stencil.plan(np.full((3, 3), 1 / 9), picture[:, :, 1], border="periodic")
        >>> mean.run(picture[:, :, 1]) is None, round(float(picture[2:5, 3:6, 1].sum()), 5)
        (False, 9.0)
        """
        steps = operator.index(steps)
        if isinstance(u, np.ndarray) or not (isinstance(u, Array) or hasattr(u, "__dlpack__")
                                             or hasattr(u, "__cuda_array_interface__")):
            self._plan.run(_writable(u), steps, _readable(coefficients))
            return u
        if _read_only(u):
            raise ValueError("the grid is read-only")
        self._plan.run_there(asarray(u)._held, steps, None if coefficients is None else asarray(coefficients)._held)
        return u

    def __call__(self, u, steps=1, coefficients=None):
        """u after `steps` steps, in a new array."""
        return self.run(np.asarray(u).astype(self.dtype, order="C", copy=True), steps, coefficients)

    def run_until(self, u, tolerance, norm="max", most_steps=1_000_000, check_every=0, coefficients=None):
        """Advances u in place until a step changes it by at most the tolerance; returns steps, change, converged."""
        steps, change, converged = self._plan.run_until(_writable(u), tolerance, norm, most_steps, check_every, _readable(coefficients))
        return {"steps": steps, "change": change, "converged": converged}

    def start(self, u, coefficients=None):
        """Starts a session: the grid stays in the memory of the plan's device."""
        return Session(self._plan.start(_readable(u), _readable(coefficients)), np.shape(u), self.dtype)


def plan(what, like, border="fixed", device="host", workers=None, measured=False):
    """A plan of an update (or of an argument of `update`) for grids with the shape and type of `like`.

    Several fields are the first axis. Borders: "fixed" (the outermost cells keep their values), "mirror", "periodic"; one for all
    sides, or one per axis, each a name or a pair (low, high). With `measured` the variants are timed first.
    """
    made = update(what)
    like = like if hasattr(like, "shape") and hasattr(like, "dtype") else np.asarray(like)
    wanted = made.dimensions + (made.fields != 1)
    if like.ndim != wanted and not (made.fields == 1 and like.ndim == wanted + 1 and like.shape[0] == 1):
        raise ValueError(f"{made!r} needs an array of {wanted} axes{', fields first' if made.fields != 1 else ''}, "
                         f"got the shape {like.shape}")
    if made.fields != 1 and like.shape[0] != made.fields:
        raise ValueError(f"{made!r} needs {made.fields} fields along the first axis, got {like.shape[0]}")
    return Plan(made, like.shape, like.dtype, border, device, workers, measured)


def run(what, u, steps=1, border="fixed", device="host", coefficients=None, workers=None, memory=None):
    """u after `steps` steps of an update, in a new array.

    memory: bytes of the device that may be used, for grids larger than that: windows of rows are transferred and advanced by several
    steps while the next one is transferred. Grids larger than ridge.device_memory(device) run so in any case.
    """
    u, device = np.asarray(u), device_name(device)
    if memory is None and coefficients is None and device != "host" and 2 * u.nbytes > _ridge.device_memory(device):
        memory = _ridge.device_memory(device)
    if memory is not None:
        if coefficients is not None:
            raise ValueError("memory= is for updates without coefficients: leave it out, or the coefficients")
        made, out = update(what), np.array(u, order="C")
        cells = u.shape[u.ndim - made.dimensions:]
        _ridge.stencil_windows(made._for(u.dtype), list(cells), *_borders(border, made.dimensions), device, operator.index(memory), out,
                               operator.index(steps))
        return out
    return plan(what, u, border, device, workers)(u, steps, coefficients)
