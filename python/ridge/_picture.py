"""What plans show in a notebook: their candidates as bars, the chosen one dark."""
from html import escape


def _time(seconds):
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def bars(trials, most=12):
    """An SVG drawing of (problem, variant, predicted, measured, reason, won): measured times, else predicted ones."""
    rows = [(name, measured or predicted, bool(measured), won)
            for _, name, predicted, measured, _, won in trials if measured or predicted]
    rows = sorted(rows, key=lambda row: (not row[3], row[1]))[:most]
    longest = max((seconds for _, seconds, _, _ in rows), default=1.0) or 1.0
    parts = []
    for i, (name, seconds, measured, won) in enumerate(rows):
        y = 20 * i
        fill = "#1f4e8c" if won else "#8fb0d9"
        dash = "" if measured else " fill-opacity='0.4' stroke='#1f4e8c' stroke-dasharray='3'"
        parts.append(f"<text x='0' y='{y + 14}'>{escape(name[:40])}</text>"
                     f"<rect x='290' y='{y + 3}' width='{max(2.0, 280 * seconds / longest):.1f}' height='14' fill='{fill}'{dash}/>"
                     f"<text x='{296 + 280 * seconds / longest:.1f}' y='{y + 14}'>{_time(seconds)}</text>")
    return (f"<svg xmlns='http://www.w3.org/2000/svg' width='660' height='{20 * len(rows) + 4}' "
            f"font-family='sans-serif' font-size='12' fill='currentColor'>{''.join(parts)}</svg>")


def page(trials):
    """The drawing, and the reasons of those that lost in a table that opens."""
    reasons = "".join(f"<tr><td>{escape(name)}</td><td>{escape(reason)}</td></tr>"
                      for _, name, _, _, reason, won in trials if reason and not won)
    return (f"<figure>{bars(trials)}<figcaption>dark: chosen; pale with a dashed edge: predicted, not run</figcaption></figure>"
            f"<details><summary>why the others lost</summary><table>{reasons}</table></details>")


class Shown:
    """A plan that explains itself; `_plan` is the module's own."""

    def explain(self):
        """The chosen variant, predicted and measured times, the share of the roof, and why each loser lost."""
        return self._plan.explain()

    def __repr__(self):
        return f"<{type(self).__module__}.{type(self).__name__}\n{self.explain()}>"

    def _repr_html_(self):
        return page(self._plan.trials())
