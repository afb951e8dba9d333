import time

import numpy as np
from ridge import planner

side = 1024
table = np.full((side, side), 0.5, np.float32)


def by_rows():
    return sum(float(row.sum()) for row in table)


def by_columns():
    return sum(float(column.sum()) for column in table.T)


def seconds(variant):
    begin = time.perf_counter()
    seconds.sum = {"rows": by_rows, "columns": by_columns}[variant]()
    return time.perf_counter() - begin


# Expected cost: the same flops, but summing by columns loads a whole cache line per value.
decision = planner.decide(f"lesson sum {side}x{side}", [
    planner.Candidate("rows", flops=side ** 2, bytes=4 * side ** 2, efficiency=0.5, threads=1),
    planner.Candidate("columns", flops=side ** 2, bytes=64 * side ** 2, efficiency=0.5, threads=1),
    planner.Candidate("telepathy", refusal="needs a sender"),
], seconds)
print(f"winner: {decision.winner}, sum {seconds.sum:.0f}")
print("telepathy lost:", decision.reasons["telepathy"])
