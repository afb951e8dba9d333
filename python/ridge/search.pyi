from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

@dataclass(frozen=True)
class Band:
    first_mhz: float
    step_mhz: float
    interval: float

def simulate(band: Band, times: int, channels: int, pulses: Sequence[Sequence[float]] = ..., dtype: DTypeLike = ...,
             seed: int = ...) -> NDArray[Any]: ...
def find(power: ArrayLike, band: Band, dm: float | Sequence[float] = ..., threshold: float = ..., tolerance: float = ...,
         widest: int = ..., flag: float = ..., device: str | None = ..., variant: str = ...,
         workers: int | None = ...) -> list[dict[str, Any]]: ...
def fold(power: ArrayLike, band: Band, period: float, pdot: float = ..., dm: float = ..., bins: int = ...,
         subbands: int = ...) -> tuple[NDArray[np.float64], float]: ...
def periods(power: ArrayLike, band: Band, dm: float = ..., acceleration: float | Sequence[float] = ..., harmonics: int = ...,
            threshold: float = ..., device: str | None = ...) -> list[dict[str, Any]]: ...
def dedisperse(voltages: ArrayLike, dm: float, centre_mhz: float, rate_mhz: float, taper: float = ..., length: int = ...,
               device: str | None = ...) -> NDArray[np.complex64]: ...
def beam_weights(positions: ArrayLike, directions: ArrayLike, channels_mhz: ArrayLike) -> NDArray[np.complex64]: ...
def beamform(voltages: ArrayLike, weights: ArrayLike, integrate: int = ..., incoherent: bool = ...,
             device: str | None = ..., arithmetic: str = ..., scale: float = ...) -> NDArray[np.float32]: ...
