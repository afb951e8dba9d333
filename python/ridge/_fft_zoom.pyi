from collections.abc import Sequence
from typing import Any
from numpy.typing import ArrayLike, NDArray

def zoom(x: ArrayLike, fn: float | Sequence[float], m: int | None = ..., *, fs: float = ..., endpoint: bool = ..., axis: int = ...,
         workers: int | None = ...) -> NDArray[Any]: ...
def czt(x: ArrayLike, m: int | None = ..., w: complex | None = ..., a: complex = ..., *, axis: int = ...,
        workers: int | None = ...) -> NDArray[Any]: ...
