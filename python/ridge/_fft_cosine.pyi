from collections.abc import Sequence
from typing import Any, overload
from numpy.typing import ArrayLike, NDArray
from .array import Array

_Lengths = int | Sequence[int] | None

@overload
def dct(x: Array, type: int = ..., n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., orthogonalize: bool | None = ..., *, device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def dct(x: ArrayLike, type: int = ..., n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., orthogonalize: bool | None = ..., *, device: str | None = ...) -> NDArray[Any]: ...
@overload
def idct(x: Array, type: int = ..., n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., orthogonalize: bool | None = ..., *, device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def idct(x: ArrayLike, type: int = ..., n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., orthogonalize: bool | None = ..., *, device: str | None = ...) -> NDArray[Any]: ...
@overload
def dst(x: Array, type: int = ..., n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., orthogonalize: bool | None = ..., *, device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def dst(x: ArrayLike, type: int = ..., n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., orthogonalize: bool | None = ..., *, device: str | None = ...) -> NDArray[Any]: ...
@overload
def idst(x: Array, type: int = ..., n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., orthogonalize: bool | None = ..., *, device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def idst(x: ArrayLike, type: int = ..., n: int | None = ..., axis: int = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., orthogonalize: bool | None = ..., *, device: str | None = ...) -> NDArray[Any]: ...
@overload
def dctn(x: Array, type: int = ..., s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, orthogonalize: bool | None = ..., device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def dctn(x: ArrayLike, type: int = ..., s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., *, orthogonalize: bool | None = ..., device: str | None = ...) -> NDArray[Any]: ...
@overload
def idctn(x: Array, type: int = ..., s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., orthogonalize: bool | None = ..., *, device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def idctn(x: ArrayLike, type: int = ..., s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., orthogonalize: bool | None = ..., *, device: str | None = ...) -> NDArray[Any]: ...
@overload
def dstn(x: Array, type: int = ..., s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., orthogonalize: bool | None = ..., *, device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def dstn(x: ArrayLike, type: int = ..., s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., orthogonalize: bool | None = ..., *, device: str | None = ...) -> NDArray[Any]: ...
@overload
def idstn(x: Array, type: int = ..., s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., orthogonalize: bool | None = ..., *, device: str | None = ...) -> Array: ...  # type: ignore[misc]
@overload
def idstn(x: ArrayLike, type: int = ..., s: _Lengths = ..., axes: int | Sequence[int] | None = ..., norm: str | None = ..., overwrite_x: bool = ..., workers: int | None = ..., orthogonalize: bool | None = ..., *, device: str | None = ...) -> NDArray[Any]: ...
