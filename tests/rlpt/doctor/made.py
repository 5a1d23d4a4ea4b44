"""Logs made by hand, under TRL's names."""

import numpy as np

from rlpt import doctor, logs


def read(text):
    return logs.read([("log.csv", [text.encode()])])


def log(rows=40, **columns):
    """A log with these columns {name: values, NaN where there is none}; the reward rises by itself."""
    usual = dict(reward=np.linspace(0.2, 0.8, rows), reward_std=np.full(rows, 0.5))
    table = {name: np.asarray(column, float) for name, column in (usual | columns).items() if column is not None}
    text = ",".join(["step", *table]) + "\n"
    for n, row in enumerate(zip(*table.values()), 1):
        text += ",".join([str(n), *("" if np.isnan(each) else repr(float(each)) for each in row)]) + "\n"
    return read(text)


def report(rows=40, **columns):
    return doctor.report(log(rows, **columns))


def names(report):
    return [one.name for one in report.signs]


def kinds(report):
    return [event.kind for event in report.events]


def binary(rates, size=64, seed=0):
    """(reward, reward_std) of batches of zeros and ones with these rates, as a log of TRL has them."""
    rates = np.asarray(rates, float)
    means = np.random.default_rng(seed).binomial(size, rates) / size
    return means, np.sqrt(means * (1 - means) * size / (size - 1))
