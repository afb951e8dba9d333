"""Images as arrays of (rows, columns) or (rows, columns, channels): optical flow, local variance, operators and chains.

>>> import numpy as np
>>> from ridge import image
>>> step = np.zeros((4, 6), np.uint8); step[:, 3:] = 200
>>> image.apply("box 3", step)[0]
array([  0,   0,  67, 133, 200, 200], dtype=uint8)
>>> image.apply("gauss 1 | resize 0.5", np.zeros((64, 48, 3), np.uint8)).shape
(32, 24, 3)
>>> image.variance(np.array([[0, 2], [4, 6]], np.uint8), 1)
array([[0., 0.],
       [0., 0.]], dtype=float32)

Pixels are uint8, uint16 or float32. Rows may have any pitch (a region of a larger image is used without a copy); the pixels of a
row must be contiguous.
"""
import numpy as np

from . import _ridge
from ._pickled import Pickled
from ._picture import Shown
from .array import device_name

__all__ = ["flow", "FlowPlan", "variance", "VariancePlan", "apply", "OperatorPlan", "read", "write", "read_flow", "write_flow",
           "flow_picture", "compare_flow"]


def _pixels(x):
    """NumPy arrays unchanged. Other objects as contiguous arrays, because they may convert to any layout (pandas: by column)."""
    return x if isinstance(x, np.ndarray) else np.ascontiguousarray(x)


class FlowPlan(Pickled, Shown):
    """A plan of dense optical flow for frames of one shape."""

    def __init__(self, shape, device="host", workers=None, measured=False, **parameters):
        known = {"layers", "averaging_radius", "max_flow", "sigma_dist", "sigma_color", "postprocess_window", "sigma_dist_fix",
                 "sigma_color_fix", "occlusion_threshold", "upscale_averaging_radius", "upscale_sigma_dist",
                 "upscale_sigma_color", "speed_up_threshold", "scan_order"}
        unknown = set(parameters) - known
        if unknown:
            raise TypeError(f"unknown parameter {sorted(unknown)[0]!r}: use {', '.join(sorted(known))}")
        self.shape = tuple(shape)
        self._plan = _ridge.FlowPlan(device_name(device), list(shape), parameters, workers or 0, measured)

    def __call__(self, first, second, out=None):
        """The vector (x, y) of every pixel, in pixels: first[r, c] is found at second[r + y, c + x]."""
        if out is None:
            out = np.empty((*self.shape[:2], 2), np.float32)
        self._plan.run(_pixels(first), _pixels(second), out)
        return out


def flow(first, second, device="host", workers=None, **parameters):
    """SimpleFlow between two 8-bit frames; the parameters are those of FlowProblem.

    >>> from ridge import image
    >>> frame = np.random.default_rng(2).integers(0, 256, (48, 64, 3), np.uint8)
    >>> moved = np.roll(frame, 2, axis=1)
    >>> np.round(np.median(image.flow(frame, moved), axis=(0, 1)))
    array([2., 0.], dtype=float32)
    """
    first, second = _pixels(first), _pixels(second)
    return FlowPlan(first.shape, device, workers, **parameters)(first, second)


class VariancePlan(Pickled, Shown):
    """A plan of the local variance for images of one shape and type."""

    def __init__(self, shape, dtype, window=27, method="best", border="reflect-101", constant=0.0, device="host", workers=None,
                 measured=False):
        window = (window, window) if np.ndim(window) == 0 else tuple(window)
        self.shape = tuple(shape)
        self._plan = _ridge.VariancePlan(device_name(device), list(shape), np.dtype(dtype).name, window, method, border, float(constant),
                                         workers or 0, measured)

    def __call__(self, image, out=None):
        """The variance around every pixel, float32."""
        if out is None:
            out = np.empty(self.shape, np.float32)
        self._plan.run(_pixels(image), out)
        return out


def variance(image, window=27, method="best", border="reflect-101", constant=0.0, device="host", workers=None):
    """The variance of every pixel's window; window: a side or (rows, columns). Exact for integers.

    >>> from ridge import image
    >>> image.variance(np.array([[1, 3, 1, 3]], np.float32), (1, 2), border="wrap")
    array([[1., 1., 1., 1.]], dtype=float32)
    """
    image = _pixels(image)
    return VariancePlan(image.shape, image.dtype, window, method, border, constant, device, workers)(image)


class OperatorPlan(Pickled, Shown):
    """A plan of a chain of operators for images of one shape and type: "gauss 2 | resize 0.5 | gray".

    `border` None: "constant" for rotate, "replicate" for median, "reflect-101" for other filters. `like` "opencv": OpenCV's
    conventions where they differ from the default (resize, rotate, gradient, bilateral); docs/image.md has the table.
    """

    def __init__(self, chain, shape, dtype, border=None, constant=0.0, device="host", workers=None, measured=False,
                 like="ridge"):
        self._plan = _ridge.OperatorPlan(device_name(device), list(shape), np.dtype(dtype).name, chain, border, float(constant), like,
                                         workers or 0, measured)
        self._input = tuple(shape)
        rows, columns, channels, self.dtype = self._plan.output()
        # A grey image has two axes, as usual in NumPy; an input with a third axis of length 1 keeps it.
        grey = channels == 1 and tuple(shape[2:]) != (1,)
        self.output_shape = (rows, columns) if grey else (rows, columns, channels)

    def __call__(self, image, guide=None, out=None):
        """The result; `guide` is the second image of a cross-bilateral filter."""
        if out is None:
            out = np.empty(self.output_shape, self.dtype)
        self._plan.run(_pixels(image), None if guide is None else _pixels(guide), out)
        return out

    def adjoint(self, g):
        """The transpose of the linear map of a float image, applied to an image of the output's shape: the gradient of the input.

        >>> import numpy as np
        >>> box = OperatorPlan("box 3", (5, 5), np.float32, border="wrap")
        >>> bool(abs(box.adjoint(np.ones((5, 5), np.float32)) - 1).max() < 1e-6)
        True
        """
        out = np.empty(self._input, np.float32)
        self._plan.adjoint(_pixels(g), out)
        return out


def apply(chain, image, guide=None, border=None, constant=0.0, device="host", workers=None, like="ridge"):
    """Applies a chain of operators to an image: "gauss 2 | resize 0.5 | gray"; docs/image.md lists them.

    >>> from ridge import image
    >>> ramp = np.tile(np.arange(5, dtype=np.float32), (5, 1))
    >>> image.apply("gradient", ramp)[2, 2]  # a derivative per pixel
    array([1., 0.], dtype=float32)
    >>> image.apply("gradient", ramp, like="opencv")[2, 2]  # as cv2.Sobel
    array([8., 0.], dtype=float32)
    """
    image = _pixels(image)
    return OperatorPlan(chain, image.shape, image.dtype, border, constant, device, workers, like=like)(image, guide)


def _read(path, of_flow):
    file = _ridge.ImageFile(str(path), of_flow)
    rows, columns, channels, dtype = file.shape()
    out = np.empty((rows, columns, channels), dtype)
    file.copy(out)
    return out if channels != 1 else out[:, :, 0]


def read(path):
    """Reads PNG, PNM, PFM, TIFF, JPEG or .npy; the first bytes of the file decide."""
    return _read(path, False)


def write(path, image):
    """Writes an image in the format of the name's suffix. The file appears only when it is complete."""
    _ridge.write_image(str(path), _pixels(image), False)


def read_flow(path):
    """Reads a flow field, Middlebury's .flo or .npy by the name's suffix: (rows, columns, 2)."""
    return _read(path, True)


def write_flow(path, flow):
    """Writes a flow field, Middlebury's .flo or .npy by the name's suffix."""
    _ridge.write_image(str(path), _pixels(flow), True)


def flow_picture(flow, most=0.0):
    """The flow in colours: direction as hue, length as saturation, full at `most` pixels (0: the longest vector)."""
    flow = _pixels(flow)
    out = np.empty((*flow.shape[:2], 3), np.uint8)
    _ridge.flow_picture(flow, float(most), out)
    return out


def compare_flow(flow, truth):
    """Errors of a flow field against the truth: known vectors, rmse, mean, worst, angular (degrees)."""
    return _ridge.compare_flow(_pixels(flow), _pixels(truth))
