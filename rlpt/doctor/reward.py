"""Changes of the reward and of a held-out score in time: falls, dies, saturates, rises.

The likelihood ratio of two rates is closed form: Wilks (1938), doi:10.1214/aoms/1177732360.
"""

from math import sqrt

import numpy as np

from rlpt.doctor import curves
from rlpt.doctor.marks import LIMIT, NEAR, event, shown

WINDOWS = (5, 10, 20, 40)  # batches before and after an edge
MOST = 4  # falls that are searched for
TRIES = 12  # edges that are looked at, of which some are no fall


def edge(values, noise, scale, size=None):
    """(place, before, after) of the earliest stretch in which a curve falls, at its sharpest; None without one. With
    `size` completions of 0 or 1 in a batch, the likelihood ratio finds a fall that is short but deep.
    """
    if scale is None or scale <= 0 or len(values) < 4:
        return None
    total, places, n = np.append(0.0, np.cumsum(values)), np.arange(1, len(values)), len(values)
    hits = np.zeros(n, bool)
    for w in WINDOWS:
        start, stop = np.maximum(0, places - w), np.minimum(n, places + w)
        before, after = places - start, stop - places  # how many batches
        drop = (total[places] - total[start]) / before - (total[stop] - total[places]) / after
        error = noise * np.sqrt(1 / before + 1 / after)
        sure = drop >= LIMIT["errors"] * error
        if size:
            parts = [(total[a] - total[b]) * size for a, b in ((places, start), (stop, places))]
            ratio = likelihood_ratio((parts[0], before * size), (parts[1], after * size))
            sure |= np.sqrt(np.maximum(0, ratio)) >= LIMIT["errors"] + 1
        hits[1:] |= (after >= 3) & (drop >= LIMIT["fall"] * scale) & sure
    if not hits.any():
        return None
    start = int(hits.argmax())
    stop = start + int(np.argmin(np.append(hits[start:], False)))
    sharpness = np.array([values[max(0, t - 3) : t].mean() - values[t : t + 3].mean() for t in range(start, stop)])
    t = start + int(np.argmax(sharpness >= sharpness.max() - 1e-3 * scale))  # the first of those that are alike
    return t, float(values[max(0, t - 40) : t].mean()), float(values[t : t + 40].mean())


def falls(run, others):
    """All falls of the reward: after one that comes back the search goes on from there."""
    known = np.isfinite(run.reward)
    values, places = run.reward[known], np.flatnonzero(known)
    seen, start = [], 0
    for _ in range(TRIES if run.has("reward") else 0):
        if len(seen) == MOST or not (fall := edge(values[start:], run.jitter, run.scale, run.size)):
            break
        t, before, after = start + fall[0], *fall[1:]
        back = regained(values[t:], before)
        if back is not None:
            after = float(values[t : t + back].mean())
        one = one_fall(run, others, values[start:], places[t], t - start, before, after, back)
        seen += one
        if one and back is None:
            break
        start = t + (back or WINDOWS[0])  # past what was no fall, and past one that came back
    return seen


def one_fall(run, others, values, place, t, before, after, back):
    drop = (before - after) / run.scale
    near = [e for e in others if abs(e.place - place) <= NEAR]
    beside = [e for e in near if e.kind not in ("reward rises", "held-out score falls")]
    if (not beside and drop < LIMIT["fall_alone"]) or only_a_rise(run, values, t, before, after):
        return []
    last = values[max(t, len(values) - max(1, len(values) // 5)) :].mean()
    says = f"from {shown(before)} to {shown(after)}, by {shown(drop)} {run.measure}"
    lasting = back is None and bool(last < (before + after) / 2)
    return [event(run, "reward falls", place, says, "reward", lasting)]


def only_a_rise(run, values, t, before, after):
    """Whether what fell was a short rise: fewer than ten batches above the middle, and back to where it began."""
    first = values[: curves.window(len(values))].mean()
    middle, low = (before + after) / 2, run.noise * 2 / sqrt(max(1, len(values) - t))
    high = (values[max(0, t - 2 * NEAR) : t] > middle).sum()
    return bool(t > NEAR and first < middle and high < NEAR and after >= first - low)


def regained(values, before):
    """How many batches after a fall a curve reaches again most of what it lost; None where it does not."""
    if len(values) < 15:
        return None
    width = max(8, min(20, len(values) // 8))
    smooth = np.convolve(values, np.ones(width) / width, mode="valid")
    low = np.minimum.accumulate(smooth)
    back = np.flatnonzero((low < before) & (smooth >= before - 0.2 * (before - low)))
    back = back[(back > 0) & (back < len(values) - NEAR)]
    return int(back[0]) if len(back) else None


def dies(run):
    """From a batch on all completions have one reward: dies where it is lower than before, else saturates."""
    alike, n = run.alike, len(run)
    if not alike.any() or alike[0]:
        return
    least = min(10, max(3, n // 4))
    share = np.cumsum(alike[::-1])[::-1] / np.arange(n, 0, -1)
    places = [t for t in np.flatnonzero(alike & (share >= LIMIT["alike"])) if n - t >= least]
    if not places:
        return
    t = places[0]
    before, after = run.reward[:t], run.reward[t:]
    kind = "reward dies" if lower(run, before, after) else "reward saturates"
    says = (
        f"every completion gets a reward of {shown(np.median(after))}; before that, the mean was {shown(before.mean())}"
    )
    yield event(run, kind, t, says, "reward")


def lower(run, before, after):
    """Whether the rewards after are surely lower: the likelihood ratio of two rates, or two standard errors."""
    if after.mean() >= before.mean():
        return False
    if run.size is None:
        error = run.noise * sqrt(1 / len(before) + 1 / len(after))
        return before.mean() - after.mean() > 2 * error
    pairs = [(part.sum() * run.size, len(part) * run.size) for part in (before, after)]
    return sqrt(max(0.0, likelihood_ratio(*pairs))) >= LIMIT["errors"]


def likelihood_ratio(first, second):
    """G of two rates against one, each (successes, trials): twice the difference of the log-likelihoods."""

    def log_likelihood(successes, trials):
        p = np.clip(successes / trials, 1e-12, 1 - 1e-12)
        return successes * np.log(p) + (trials - successes) * np.log(1 - p)

    both = (first[0] + second[0], first[1] + second[1])
    return 2 * (log_likelihood(*first) + log_likelihood(*second) - log_likelihood(*both))


def rises(run):
    if run.rose:
        known = np.isfinite(run.reward)
        values, gained = run.reward[known], run.rise[0]
        smooth = np.convolve(np.pad(values, 2, mode="edge"), np.ones(5) / 5, mode="valid")
        half = values[: curves.window(len(values))].mean() + gained / 2
        place = np.flatnonzero(known)[int((smooth >= half).argmax())]
        yield event(run, "reward rises", place, f"half of its total gain of {shown(gained)} is reached", "reward")


def held_out_falls(run, scorer):
    values, steps = scorer.curve.values, scorer.curve.steps
    if len(values) < 3:
        return
    noise = curves.neighbors(values)
    p = np.clip(values, 0, 1)
    if len(values) >= 20:
        scale = sqrt(max(p.max() * (1 - p.max()), p[0] * (1 - p[0]), 0.01))
        if (seen := edge(values, noise, scale)) is None:
            return
        t, before, after = seen
        lasting = bool(values[-max(1, len(values) // 5) :].mean() < (before + after) / 2)
    else:
        before, after = float(values[0]), float(values[-2:].mean())
        if before - after <= max(LIMIT["held_out"], 3 * noise):
            return
        t = int((values < (before + after) / 2).argmax())
        lasting = True
    says = f"{scorer.name}, from {shown(before)} to {shown(after)}"
    place = run.batch_of(steps[t])
    yield event(run, "held-out score falls", place, says, "held_out", lasting, scorer.name)
