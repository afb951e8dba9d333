"""The planner for your own variants: it lists them, rules some out with a reason, predicts, times the best and keeps the winner.

>>> from ridge import planner
>>> decision = planner.decide("demo sum", [planner.Candidate("loop", flops=1e6), planner.Candidate("magic", refusal="not invented")],
...                           lambda name: 1e-3)
>>> decision.winner, decision.reasons["magic"]
('loop', 'not invented')
"""
import contextlib
from dataclasses import asdict, dataclass

from . import _ridge

__all__ = ["Candidate", "Decision", "decide", "improve", "hold", "wait_for_improvements", "pin", "unpin"]


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


def improve(mode):
    """Sets what a background thread does for quick plans made from now on: "never", "next_time" or "now".

    "next_time" measures and saves the winner for later processes; "now" also exchanges the plans, whose results may change in the last
    bits. The functions of ridge.fft make quick plans.

    >>> improve("never")
    """
    _ridge.improve(mode)


@contextlib.contextmanager
def hold():
    """Context manager: no plan is exchanged and nothing is timed in the background.

    >>> with hold():
    ...     pass
    """
    held = _ridge.Hold()
    try:
        yield
    finally:
        del held


def wait_for_improvements(seconds):
    """Waits until the background thread has nothing left to do; False if that takes longer.

    >>> wait_for_improvements(1)
    True
    """
    return _ridge.wait_for_improvements(float(seconds))


def pin(problem, variant=""):
    """Fixes the variant of a problem (text as in ridge.wisdom()) until unpin(): the saved winner, or the one named.

    Returns the number of pinned entries; 0 if no choice of this problem was saved.

    >>> pin("transpose of nothing")
    0
    """
    return _ridge.pin_wisdom(problem, variant)


def unpin(problem=""):
    """Lets measurements choose again, for one problem or for all. Returns the number of released entries."""
    return _ridge.unpin_wisdom(problem)
