from typing import Any
import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

class Wave:
    shape: tuple[int, ...]
    steps: int
    shots: int
    batch: int
    dtype: np.dtype[Any]
    dt: float
    frequency: float
    wavelet: NDArray[np.float64]
    history: str
    def __init__(self, shape: tuple[int, ...], fastest: float, sources: ArrayLike, receivers: ArrayLike, steps: int,
                 wavelet: ArrayLike | None = ..., spacing: float = ..., dt: float = ..., frequency: float = ..., accuracy: int = ...,
                 layer: int = ..., free_surface: bool = ..., batch: int = ..., device: str | None = ..., dtype: DTypeLike = ...,
                 memory: int = ..., error: float = ..., exact: bool = ..., bits: int = ..., effort: str = ...) -> None: ...
    def forward(self, velocity: ArrayLike) -> NDArray[Any]: ...
    def gradient(self, velocity: ArrayLike, observed: ArrayLike) -> tuple[float, NDArray[np.float64]]: ...
    def adjoint(self, velocity: ArrayLike, traces: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def explain(self) -> str: ...
    def __call__(self, velocity: Any) -> Any: ...
