from collections.abc import Sequence
from typing import Any, overload
from numpy.typing import NDArray
from ._pickled import Pickled
from ._picture import Shown
from .array import Array

class Float16Plan(Pickled, Shown):
    def __init__(self, shape: Sequence[int], batch: int, real: bool, inverse: bool, scale: float, storage: str, device: str,
                 measured: bool) -> None: ...
    @overload
    def __call__(self, x: Array) -> Array: ...
    @overload
    def __call__(self, x: NDArray[Any]) -> NDArray[Any]: ...

def plan_float16(shape: int | Sequence[int], batch: int = ..., kind: str = ..., inverse: bool = ..., norm: str | None = ...,
                storage: str = ..., device: str | None = ..., measured: bool = ...) -> Float16Plan: ...
