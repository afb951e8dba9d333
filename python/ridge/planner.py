"""The planner for variants of your own: list them, rule out with a reason, predict, time the promising ones, keep the winner.

>>> from ridge import planner
>>> decision = planner.decide("demo sum", [planner.Candidate("loop", flops=1e6), planner.Candidate("magic", refusal="not invented")],
...                           lambda name: 1e-3)
>>> decision.winner, decision.reasons["magic"]
('loop', 'not invented')
"""
from dataclasses import asdict, dataclass

from . import _ridge

__all__ = ["Candidate", "Decision", "decide"]


@dataclass
class Candidate:
    """A way to do it: what it is expected to cost, or the limit it breaks, in words."""
    name: str
    refusal: str = ""
    flops: float = 0.0          # really done
    bytes: float = 0.0          # really moved through memory
    efficiency: float = 1.0     # of the roof, what its author expects
    threads: int = 1
    float64: bool = False


@dataclass
class Decision:
    """Which won, why the others lost, and all of it as a text."""
    winner: str
    reasons: dict
    seconds: dict               # of those that were timed
    text: str

    def explain(self):
        """Variant, predicted and measured time, the share of the roof, the losers with their reasons."""
        return self.text


def decide(problem, candidates, seconds, flops=0.0, bytes=0.0, device="host", wisdom=False):
    """The best of some candidates for a problem in words ("mysum 2048x2048"; its first word names the workload).

    seconds(name) runs a candidate and says how long one warm run took. With wisdom=True the winner is remembered.
    """
    winner, trials, text = _ridge.decide(device, problem, [asdict(c) for c in candidates], flops, bytes, wisdom, seconds)
    return Decision(winner, {name: reason for _, name, _, _, reason, won in trials if not won},
                    {name: measured for _, name, _, measured, _, _ in trials if measured}, text)
