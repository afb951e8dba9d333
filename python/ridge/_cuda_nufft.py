"""Nonuniform transforms of another library's arrays on CUDA, on its stream, in memory of its own pool.

Data and points of types 1 and 2 stay on the device. Type 3 chooses its grid by its points and frequencies, which are copied to the host.
Backends are those of ridge._cuda.
"""
import functools

from . import _ridge

_UPSAMPLINGS = (0.0, 2.25, 2.0, 1.5, 1.25)


@functools.lru_cache(maxsize=32)
def _kept(device, stream, single, problem):
    """A plan without points, whose copies share work areas: each stream has its own."""
    del stream
    return getattr(_ridge, "NufftPlan" + ("Float" if single else "Double"))(device, dict(problem), False)


class Nonuniform:
    """A transform of sets of packed arrays, with its points sorted.

    points: one real array per axis, all of one length. targets: type 3, the frequencies. n_modes: types 1 and 2.
    """

    def __init__(self, backend, kind, n_modes, sets, eps, sign, modeord, upsampling, points, targets=None):
        self.backend, self.kind, self.like, self.sets = backend, kind, points[0], sets
        self.single = backend.dtype(points[0]) == "float32"
        self.stream, device, count = backend.stream(points[0]), backend.device(points[0]), points[0].shape[0]
        self.at_points, self.axes = (count,), len(points)
        if kind == 3:
            made = _ridge.NufftType3Float if self.single else _ridge.NufftType3Double
            self.plan = made(device, len(points), float(eps), sign, sets, 0)
            self.plan.set_points([backend.on_host(x) for x in points], [backend.on_host(x) for x in targets])
            self.modes = (targets[0].shape[0],)
            return
        self.modes = tuple(n_modes)
        problem = {"type": kind, "modes": self.modes, "points": 1 << max(0, count - 1).bit_length(), "epsilon": float(eps), "sign": sign,
                   "batch": sets, "fft_order": bool(modeord), "upsampling": upsampling, "threads": 0, "real": False, "fold": True}
        self.plan = _kept(device, self.stream, self.single, tuple(problem.items())).copy()
        points = [backend.packed(x, [0]) for x in points]
        self.plan.set_points_at(count, [backend.address(x) for x in points] if count else [], self.stream)

    def _empty(self, shape):
        return self.backend.empty(shape, "complex64" if self.single else "complex128", self.like)

    def execute(self, data, adjoint=False):
        """data: (sets, ...), packed."""
        to_modes = (self.kind != 2) != adjoint
        out = self._empty((self.sets, *(self.modes if to_modes else self.at_points)))
        if 0 in data.shape or 0 in out.shape:
            out[...] = 0
        else:
            self.plan.enqueue(self.backend.address(data), self.backend.address(out), adjoint, self.stream)
        return out

    def execute_adjoint(self, data):
        return self.execute(data, True)

    def slopes(self, modes):
        """Values of the modes at the points, and their derivatives by each coordinate."""
        out = self._empty((1 + self.axes, self.sets, *self.at_points))
        if 0 not in out.shape:
            self.plan.enqueue_slopes(self.backend.address(modes), self.backend.address(out), self.stream)
        return out[0], out[1:]

    def gradients(self, data, cotangent):
        """As ridge.nufft.Plan.gradients(), of types 1 and 2."""
        if self.kind == 1:
            by_data, slopes = self.slopes(cotangent)
            return by_data, (data * slopes.conj()).real.sum(1)
        return self.execute_adjoint(cotangent), (cotangent.conj() * self.slopes(data)[1]).real.sum(1)


def nearest_upsampling(factor):
    """The supported factor nearest to the given one; 0: the planner chooses."""
    return 0.0 if factor == 0 else min(_UPSAMPLINGS[1:], key=lambda ours: abs(ours - factor))
