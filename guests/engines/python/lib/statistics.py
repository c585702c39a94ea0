"""Averages."""
import math


class StatisticsError(ValueError):
    pass


def _some(data):
    all = list(data)
    if not all:
        raise StatisticsError("there are no data")
    return all


def mean(data):
    all = _some(data)
    return sum(all) / len(all)


fmean = mean


def median(data):
    all = sorted(_some(data))
    n = len(all) // 2
    return all[n] if len(all) % 2 else (all[n - 1] + all[n]) / 2


def mode(data):
    from collections import Counter

    return Counter(_some(data)).most_common(1)[0][0]


def pvariance(data):
    all = _some(data)
    m = mean(all)
    return sum((x - m) ** 2 for x in all) / len(all)


def variance(data):
    all = _some(data)
    if len(all) < 2:
        raise StatisticsError("there are fewer than two data")
    return pvariance(all) * len(all) / (len(all) - 1)


def pstdev(data):
    return math.sqrt(pvariance(data))


def stdev(data):
    return math.sqrt(variance(data))
