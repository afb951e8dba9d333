from collections.abc import Sequence
from typing import Any, overload
from numpy.typing import ArrayLike, DTypeLike, NDArray
from ._fft_arguments import get_workers as get_workers, set_workers as set_workers
from ._fft_cosine import dct as dct, dctn as dctn, dst as dst, dstn as dstn, idct as idct, idctn as idctn, idst as idst, idstn as idstn
from ._fft_device import Float16Plan as Float16Plan, plan_float16 as plan_float16
from ._fft_plan import Convolution as Convolution, Plan as Plan, convolution as convolution, plan as plan
from ._fft_boxes import BoxFilter as BoxFilter, Boxes as Boxes, Columns as Columns, RealBoxes as RealBoxes, sphere_columns as sphere_columns
from ._fft_zoom import czt as czt, zoom as zoom
from .array import Array

_Lengths = int | Sequence[int] | None

@overload
def fft(x: Array, n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def fft(x: ArrayLike, n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def ifft(x: Array, n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def ifft(x: ArrayLike, n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def fft2(x: Array, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def fft2(x: ArrayLike, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def ifft2(x: Array, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def ifft2(x: ArrayLike, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def fftn(x: Array, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def fftn(x: ArrayLike, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def ifftn(x: Array, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def ifftn(x: ArrayLike, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def rfft(x: Array, n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def rfft(x: ArrayLike, n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def irfft(x: Array, n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def irfft(x: ArrayLike, n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def rfftn(x: Array, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def rfftn(x: ArrayLike, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def irfftn(x: Array, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def irfftn(x: ArrayLike, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def rfft2(x: Array, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def rfft2(x: ArrayLike, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def irfft2(x: Array, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def irfft2(x: ArrayLike, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def hfft(x: Array, n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def hfft(x: ArrayLike, n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def ihfft(x: Array, n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def ihfft(x: ArrayLike, n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def hfftn(x: Array, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def hfftn(x: ArrayLike, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def ihfftn(x: Array, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def ihfftn(x: ArrayLike, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def hfft2(x: Array, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def hfft2(x: ArrayLike, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def ihfft2(x: Array, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def ihfft2(x: ArrayLike, s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., device: str | None = ...) -> NDArray[Any]: ...
def fftfreq(n: int, d: float = ..., *, dtype: DTypeLike | None = ..., device: str | None = ...) -> NDArray[Any]: ...
def rfftfreq(n: int, d: float = ..., *, dtype: DTypeLike | None = ..., device: str | None = ...) -> NDArray[Any]: ...
def fftshift(x: ArrayLike, axes: int | Sequence[int] | None = ...) -> NDArray[Any]: ...
def ifftshift(x: ArrayLike, axes: int | Sequence[int] | None = ...) -> NDArray[Any]: ...
def next_fast_len(target: int, real: bool = ...) -> int: ...
def register() -> None: ...

__ua_domain__: str
def __ua_function__(method: Any, args: Any, kwargs: Any) -> Any: ...
