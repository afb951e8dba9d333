"""The planner for your own variants: it lists them, rules some out with a reason, predicts, times the best and keeps the winner.

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
    """A variant: its expected cost, or the reason why it cannot be used (refusal)."""
    name: str
    refusal: str = ""
    flops: float = 0.0          # operations actually performed
    bytes: float = 0.0          # bytes actually moved through memory
    efficiency: float = 1.0     # expected share of the roofline ceiling
    threads: int = 1
    float64: bool = False


@dataclass
class Decision:
    """The winner, why the others lost, and the explanation as text."""
    winner: str
    reasons: dict
    seconds: dict               # of the timed variants
    text: str

    def explain(self):
        """Variant, predicted and measured time, share of the roofline ceiling, and the other variants with their reasons."""
        return self.text


def decide(problem, candidates, seconds, flops=0.0, bytes=0.0, device="host", wisdom=False):
    """Chooses the best candidate for a problem, described by text ("mysum 2048x2048"; its first word names the workload).

    seconds(name) runs a candidate and returns the time of one warm run. With wisdom=True the winner is stored.
    """
    winner, trials, text = _ridge.decide(device, problem, [asdict(c) for c in candidates], flops, bytes, wisdom, seconds)
    return Decision(winner, {name: reason for _, name, _, _, reason, won in trials if not won},
                    {name: measured for _, name, _, measured, _, _ in trials if measured}, text)
