# SPDX-License-Identifier: BSD-3-Clause
"""What is computed from samples: medians with their intervals, and least squares."""
import math
import statistics

CONFIDENCE = 0.95


def quantile(ordered, part):
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def lower_rank(count):
    """The most values that are, but for one time in forty, not all below the median.

    How many of them lie below it is binomial, whatever they are distributed like.
    """
    if count >= 1000:
        return int(count / 2 - 0.98 * math.sqrt(count))
    below = 0.0
    for rank in range(count):
        below += math.comb(count, rank) / 2.0 ** count
        if below > (1 - CONFIDENCE) / 2:
            return rank
    return count // 2


def interval(values):
    """Where the median lies with 95 % confidence; all of them if they are fewer than six."""
    ordered = sorted(values)
    rank = max(0, lower_rank(len(ordered)) - 1)
    return ordered[rank], ordered[-1 - rank]


def summary(values, digits=6):
    ordered = sorted(values)
    low, high = interval(ordered)
    return {"median": statistics.median(ordered), "low": low, "high": high,
            "p10": quantile(ordered, 0.1), "p90": quantile(ordered, 0.9), "samples": len(ordered),
            "values": [float(f"{value:.{digits}g}") for value in values]}


def line(points):
    """(at 0, slope) of the line with the least squares, or None."""
    if len({x for x, _ in points}) < 2:
        return None
    slope, start = statistics.linear_regression(*zip(*points))
    return start, slope


def half_power(points):
    """(r_inf, n_1/2) of the curve r_inf * x / (n_1/2 + x) with the least squares.

    For each n_1/2 the best r_inf is known; n_1/2 itself is sought by narrowing an interval.  None
    if that is more than the largest size: nothing is known of a curve that only rises.
    """
    points = [(size, rate) for size, rate in points if size > 0]
    if len(points) < 3:
        return None

    def best(log_half):
        parts = [size / (math.exp(log_half) + size) for size, _ in points]
        most = (sum(part * rate for part, (_, rate) in zip(parts, points)) /
                sum(part * part for part in parts))
        return most, sum((rate - most * part) ** 2 for part, (_, rate) in zip(parts, points))

    low, high = 0.0, math.log(2 * max(size for size, _ in points))
    for _ in range(100):
        third = (high - low) / 3
        if best(low + third)[1] < best(high - third)[1]:
            high -= third
        else:
            low += third
    half = math.exp(low)
    return (best(low)[0], half) if half <= max(size for size, _ in points) else None
