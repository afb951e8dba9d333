from collections.abc import Sequence
from typing import Any
from numpy.typing import ArrayLike, NDArray
from ._picture import Shown

class Plan(Shown):
    def __init__(self, x: NDArray[Any], out: NDArray[Any], kind: int, axes: Sequence[int], scale: float, workers: int,
                 measured: bool) -> None: ...
    def __call__(self, x: NDArray[Any], out: NDArray[Any] | None = ...) -> NDArray[Any]: ...

def plan(x: ArrayLike, axes: int | Sequence[int] | None = ..., kind: str = ..., inverse: bool = ..., norm: str | None = ...,
         workers: int | None = ..., measured: bool = ...) -> Plan: ...
