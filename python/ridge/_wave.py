"""Acoustic waves as a differentiable function of the velocity model (ridge.stencil.Wave)."""
import numpy as np

from . import _ridge
from .array import device_name


def _points(given, axes, what):
    """Positions as one array of (points, axes) per shot."""
    points = np.asarray(given, np.float64)
    if points.ndim == 2:
        points = points[np.newaxis]
    if points.ndim != 3 or points.shape[2] != axes:
        raise ValueError(f"{what} need an array of (points, {axes}) or (shots, points, {axes}), got {points.shape}")
    return points


class Wave:
    """u_tt = c^2 (laplacian u + source), with absorbing layers around the model: traces of shots, and their derivatives.

    >>> import numpy as np
    >>> from ridge import stencil
    >>> model = np.full((40, 50), 1500.0)
    >>> model[25:] = 1900
    >>> wave = stencil.Wave(model.shape, 1900, sources=[[4, 25]], receivers=[[4, x] for x in range(5, 45)], steps=200, spacing=10)
    >>> observed = wave.forward(model)                        # (shots, steps, receivers)
    >>> misfit, slope = wave.gradient(np.full((40, 50), 1500.0), observed)
    >>> observed.shape, slope.shape, bool(misfit > 0)
    ((1, 200, 40), (40, 50), True)

    Positions are in cells, slowest axis first, and may be between cells: (points, axes) for all shots, or (shots, points, axes).
    fastest is the largest velocity that models will have: it sets the time step and the layers. wavelet has one value per step, or
    (shots, steps), or (shots, sources, steps); default is a Ricker pulse of the given frequency (default: 16 cells per wave at half of
    `fastest`). batch shots of a model of two axes are computed at once, which fills devices; memory is a number of bytes for gradients.
    Called with a tensor, wave(velocity) is a PyTorch function with a gradient; the computation is on `device`, wherever the tensor is.
    """

    def __init__(self, shape, fastest, sources, receivers, steps, wavelet=None, spacing=1.0, dt=0.0, frequency=0.0, accuracy=8, layer=8,
                 free_surface=False, batch=1, device="host", dtype=np.float32, memory=0, error=1e-3, exact=False, bits=0, effort="quick"):
        self.shape, self.steps, self.dtype = tuple(int(n) for n in shape), int(steps), np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise TypeError(f"dtype must be float32 or float64, got {self.dtype}")
        if effort not in ("quick", "measured"):
            raise ValueError(f'effort must be "quick" or "measured", got {effort!r}')
        sources, receivers = _points(sources, len(self.shape), "sources"), _points(receivers, len(self.shape), "receivers")
        self.shots = max(len(sources), len(receivers))
        sources, receivers = (np.broadcast_to(p, (self.shots, *p.shape[1:])) for p in (sources, receivers))
        self.batch = min(int(batch), self.shots)
        medium = {"spacing": float(spacing), "dt": float(dt), "frequency": float(frequency or fastest / (32 * spacing)),
                  "accuracy": int(accuracy), "layer": int(layer), "free_surface": bool(free_surface), "batch": self.batch}
        kind = _ridge.SurveyFloat32 if self.dtype == np.float32 else _ridge.SurveyFloat64
        self._options = {"memory": int(memory), "error": float(error), "exact": bool(exact), "bits": int(bits)}
        self._survey = kind(device_name(device), list(self.shape), np.full(self.shape, float(fastest)), medium, effort == "measured")
        wavelet = np.asarray(self._survey.ricker(self.steps) if wavelet is None else wavelet, np.float64)
        if wavelet.ndim == 1:
            wavelet = wavelet[np.newaxis, np.newaxis]
        elif wavelet.ndim == 2:
            wavelet = wavelet[:, np.newaxis]
        self.wavelet = np.broadcast_to(wavelet, (self.shots, sources.shape[1], self.steps))
        self.dt, self.frequency = self._survey.dt(), self._survey.frequency()
        self._shots = [tuple(np.ascontiguousarray(part) for part in parts) for parts in zip(sources, self.wavelet, receivers)]

    def _with(self, velocity):
        velocity = np.ascontiguousarray(velocity, np.float64)
        if velocity.shape != self.shape:
            raise ValueError(f"the velocity needs the shape {self.shape}, got {velocity.shape}")
        return self._survey.with_velocity(velocity)

    def _traces(self):
        return np.empty((self.shots, self.steps, len(self._shots[0][2])), self.dtype)

    def forward(self, velocity):
        """Values at the receivers after each step: (shots, steps, receivers)."""
        survey, traces = self._with(velocity), self._traces()
        for first in range(0, self.shots, self.batch):
            some = slice(first, first + self.batch)
            survey.record(self._shots[some], self.steps, traces[some])
        return traces

    def gradient(self, velocity, observed):
        """Half of the sum of (traces - observed)^2, and its derivative with respect to the velocity of each cell."""
        misfit, slope, _ = self._reverse(velocity, observed, False)
        return misfit, slope

    def adjoint(self, velocity, traces):
        """Derivatives of any function of the traces by the velocity and by the wavelets, from its derivatives by the traces."""
        return self._reverse(velocity, traces, True)[1:]

    def _reverse(self, velocity, traces, derivatives):
        survey, traces = self._with(velocity), np.ascontiguousarray(traces, self.dtype)
        if traces.shape != self._traces().shape:
            raise ValueError(f"traces need the shape {self._traces().shape}, got {traces.shape}")
        misfit, slope, wavelets, one = 0.0, np.zeros(self.shape), np.empty(self.wavelet.shape), np.empty(self.shape)
        for first in range(0, self.shots, self.batch):
            some = slice(first, first + self.batch)
            part, self.history = survey.gradient(self._shots[some], self.steps, traces[some],
                                                 {**self._options, "derivatives": derivatives}, one, wavelets[some])
            misfit += part
            slope += one
        return misfit, slope, wavelets

    def explain(self):
        """The plan of the steps as text."""
        return self._survey.explain()

    def __call__(self, velocity):
        if isinstance(velocity, np.ndarray):
            return self.forward(velocity)
        return _torch_function().apply(velocity, self)


def _torch_function():
    global _function
    if _function is None:
        import torch

        class Function(torch.autograd.Function):
            @staticmethod
            def forward(ctx, velocity, wave):
                ctx.wave = wave
                ctx.save_for_backward(velocity)
                traces = torch.from_numpy(wave.forward(velocity.detach().cpu().double().numpy()))
                return traces.to(velocity.device)

            @staticmethod
            @torch.autograd.function.once_differentiable
            def backward(ctx, traces):
                velocity, = ctx.saved_tensors
                slope, _ = ctx.wave.adjoint(velocity.detach().cpu().double().numpy(), traces.detach().cpu().numpy())
                return torch.from_numpy(slope).to(velocity), None

        _function = Function
    return _function


_function = None
