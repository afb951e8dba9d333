from collections.abc import Sequence
from typing import Any

class Nonuniform:
    def __init__(self, backend: Any, kind: int, n_modes: Sequence[int], sets: int, eps: float, sign: int, modeord: int, upsampling: float,
                 points: Sequence[Any], targets: Sequence[Any] | None = ...) -> None: ...
    backend: Any
    kind: int
    like: Any
    sets: int
    single: bool
    stream: int
    at_points: tuple[int, ...]
    axes: int
    plan: Any
    modes: tuple[int, ...]
    def execute(self, data: Any, adjoint: bool = ...) -> Any: ...
    def execute_adjoint(self, data: Any) -> Any: ...
    def slopes(self, modes: Any) -> tuple[Any, Any]: ...
    def gradients(self, data: Any, cotangent: Any) -> tuple[Any, Any]: ...

def nearest_upsampling(factor: float) -> float: ...
