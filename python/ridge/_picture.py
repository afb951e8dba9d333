"""Notebook display of plans: the candidates as a bar chart, the chosen one dark."""
def _time(seconds):
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _rows(candidates, y):
    """SVG text of the bars of (name, seconds, won, dashed) from y on, the longest 280 pixels; and the y of their end."""
    longest = max((seconds for _, seconds, _, _ in candidates), default=1.0) or 1.0
    from html import escape  # loaded for notebooks only
    text = ""
    for name, seconds, won, dashed in candidates:
        fill = "#1f4e8c" if won else "#8fb0d9"
        edge = " fill-opacity='0.4' stroke='#1f4e8c' stroke-dasharray='3'" if dashed else ""
        text += (f"<text x='0' y='{y + 14}'>{escape(name[:40])}</text>"
                 f"<rect x='290' y='{y + 3}' width='{max(2.0, 280 * seconds / longest):.1f}' height='14' fill='{fill}'{edge}/>"
                 f"<text x='{296 + 280 * seconds / longest:.1f}' y='{y + 14}'>{_time(seconds)}</text>")
        y += 20
    return text, y


def bars(trials, most=12):
    """A bar chart (SVG) of (problem, variant, predicted, measured, reason, won).

    Measured and predicted times have separate scales, because a prediction assumes an ideal machine. Variants that were not run
    are in a second chart below, which begins with the prediction for the winner.
    """
    def best(rows):
        return sorted(rows, key=lambda row: (not row[2], row[1]))[:most]

    measured = best((name, time, won, False) for _, name, _, time, _, won in trials if time)
    predicted = best((name, time, won, True) for _, name, time, ran, _, won in trials if time and (won or not ran))
    parts, y = _rows(measured, 0)
    if not measured or any(not won for _, _, won, _ in predicted):
        if measured:
            parts += f"<text x='0' y='{y + 22}' font-style='italic'>predicted, not run</text>"
            y += 28
        more, y = _rows(predicted, y)
        parts += more
    return (f"<svg xmlns='http://www.w3.org/2000/svg' width='660' height='{y + 4}' "
            f"font-family='sans-serif' font-size='12' fill='currentColor'>{parts}</svg>")


def page(trials):
    """The chart, and a collapsible table with the reasons why the other candidates were not chosen."""
    from html import escape
    reasons = "".join(f"<tr><td>{escape(name)}</td><td>{escape(reason)}</td></tr>"
                      for _, name, _, _, reason, won in trials if reason and not won)
    return (f"<figure>{bars(trials)}<figcaption>dark: chosen; dashed: predicted times, with a separate scale</figcaption></figure>"
            f"<details><summary>why the others lost</summary><table>{reasons}</table></details>")


class Shown:
    """Base of the plans: explanation and notebook display. `_plan` is the plan of the extension module."""

    def explain(self):
        """The chosen variant, predicted and measured times, the share of the roofline ceiling, and why each other variant lost."""
        return self._plan.explain()

    def __repr__(self):
        chosen = ", ".join(dict.fromkeys(name for _, name, _, _, _, won in self._plan.trials() if won))
        return f"<{type(self).__module__}.{type(self).__name__}{': ' if chosen else ''}{chosen}; explain() lists all candidates>"

    def _repr_html_(self):
        return page(self._plan.trials())
