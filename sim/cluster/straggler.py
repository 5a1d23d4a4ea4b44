"""What waiting for the slowest of many completions costs, and which completions each way of not waiting leaves in the
batch.

Order statistics of a log-normal length: closed forms and one-dimensional integrals. Over-sampling as in verl 0.6
(`over_sample_rate`, which 0.9.1 does not read), first-finished prompts and partial rollouts as in slime and APRIL (Zhou
et al., 2025, arXiv:2509.18521), soft overlong penalty of DAPO (Yu et al., 2025, arXiv:2503.14476). Lengths are in
medians unless a median is given; a slot decodes one token per iteration, and all iterations take equally long except in
`drain`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heapreplace
from math import erfc, exp, inf, lgamma, log, nan, pi, sqrt
from typing import Protocol

import numpy as np

from sim.cluster.models import Numbers


class IterationSeconds(Protocol):
    """Seconds of an iteration of an engine that runs so many sequences over so many cached tokens in all."""

    def __call__(self, running: Numbers, kv_tokens: Numbers, /) -> Numbers: ...


# assumed: log length is normal, z standard deviations from its median, the same law for every prompt. Caps add a spike,
# and prompts that differ a second mode.
Z = np.linspace(-9.0, 12.0, 1401)
# Φ(z), the chance that another completion is shorter; numpy has no erf
SHORTER = np.array([erfc(-z / sqrt(2)) / 2 for z in Z])
LONGER = np.array([erfc(z / sqrt(2)) / 2 for z in Z])  # 1 − Φ(z), exact where Φ rounds to 1
DENSITY = np.exp(-(Z**2) / 2) / sqrt(2 * pi)
STEP = Z[1] - Z[0]
U = np.linspace(-4.8, 4.8, 13)  # difficulty of a prompt, standardised; dense enough up to between = 0.75
U_WEIGHT = np.exp(-(U**2) / 2) / np.exp(-(U**2) / 2).sum()


# How long the slowest takes


def expected_max(n: int, sigma: float, mu: float = 0.0, cap: float = inf) -> float:
    """Mean length of the longest of n completions, ∫ l(z) n Φ(z)^(n−1) φ(z) dz.

    With l(z) = min(exp(μ + σz), cap).
    """
    return integral(np.minimum(np.exp(mu + sigma * Z), cap) * kth_density(n, n))


def expected_order_stat(k: int, n: int, sigma: float) -> float:
    """Mean length, in medians, of the k-th shortest of n completions, i.e. when the k-th finishes."""
    return integral(np.exp(sigma * Z) * kth_density(k, n))


def capped_mean(sigma: float, mu: float = 0.0, cap: float = inf) -> float:
    """E[min(l, cap)] = exp(μ + σ²/2) Φ(a − σ) + cap (1 − Φ(a)), with a = (ln cap − μ)/σ."""
    if sigma == 0 or cap == inf:
        return min(exp(mu + sigma**2 / 2), cap)
    a = (log(cap) - mu) / sigma
    return exp(mu + sigma**2 / 2) * erfc((sigma - a) / sqrt(2)) / 2 + cap * erfc(a / sqrt(2)) / 2


def truncated_share(sigma: float, mu: float, cap: float) -> float:
    """P(l > cap): the fraction of completions that the cap cuts off."""
    return erfc((log(cap) - mu) / (sigma * sqrt(2))) / 2 if sigma > 0 else float(exp(mu) > cap)


def straggler_tax(n: int, sigma: float) -> float:
    """E[max of n] / E[length]: slot-iterations paid per slot-iteration used if n slots wait for the longest."""
    return expected_max(n, sigma) / capped_mean(sigma)


# Who is trained on when the race is stopped early. `between` is the share of the variance of log length that lies
# between prompts


def race_in_prompts(K: int, launched: int, between: float = 0.0) -> np.ndarray:
    """P(trained on | z) on the grid if each prompt keeps the first K of its `launched` completions.

    At most K − 1 of the others are shorter: the K-th shortest of the others is longer.
    """
    if launched == K:
        return np.ones_like(Z)
    trained = 1 - cumulative(kth_density(K, launched - 1))  # at e, the part of z beyond its prompt
    if between == 0:
        return trained
    e = [sqrt(1 - between) * Z + sqrt(between) * u for u in U]  # given z, e is normal
    return sum(weight * np.interp(at, Z, trained) for at, weight in zip(e, U_WEIGHT))


def race_of_prompts(K: int, prompts: int, launched: int, between: float = 0.0) -> np.ndarray:
    """P(trained on | z) on the grid if the first `prompts` of `launched` whole groups are kept; a group finishes with
    its longest completion.
    """
    if launched == prompts:
        return np.ones_like(Z)
    group = group_law(K, between)
    wins = 1 - cumulative(kth_density(prompts, launched - 1, *group.longest))  # given the group's longest
    longest_other = running_integral(wins * group.longest_other)
    # the own completion is the longest, or one of the others is
    trained = group.others_shorter * wins + longest_other[:, -1:] - longest_other
    return over_prompts(group.density * trained, between) / np.maximum(over_prompts(group.density, between), 1e-300)


def p_right(slope: float) -> np.ndarray:
    """Probability that a completion is correct, 1/(1 + exp(−slope · z)), on the grid; half of all are."""
    # assumed: one number links correctness and length. Measured links have either sign and are not monotone
    # (arXiv:2602.09591).
    return 1 / (1 + np.exp(-slope * Z))


def trained_accuracy(slope: float, trained: np.ndarray) -> float:
    """Fraction of correct completions among those trained on; `trained` is P(trained on | z)."""
    return mean_over(trained, p_right(slope))


def punished_accuracy(slope: float, trained: np.ndarray, cutoff: float) -> float:
    """The same if completions with z > cutoff were cut off by a cap and scored wrong."""
    return mean_over(trained, p_right(slope) * before(cutoff))


def trained_length(sigma: float, trained: np.ndarray, cap: float = inf) -> float:
    """Mean length, in medians, of those trained on."""
    return mean_over(trained, np.minimum(np.exp(sigma * Z), cap))


def tokens_trained_on(sigma: float, trained: np.ndarray, cap: float = inf) -> float:
    """Tokens decoded for the batch per launched completion, in medians: the others count 0."""
    return integral(np.minimum(np.exp(sigma * Z), cap) * trained * DENSITY)


def wait_in_prompts(prompts: int, K: int, launched: int, sigma: float, cap: float = inf, between: float = 0.0) -> float:
    """Mean time of a step, in medians, that waits until each of its prompts has K of `launched` completions: E[max over
    prompts of l_(K)].
    """
    kth = kth_density(K, launched)
    done = over_prompts(by_prompt(cumulative(kth), between), between)
    density = over_prompts(by_prompt(kth, between), between) / sqrt(1 - between)
    return integral(np.minimum(np.exp(sigma * Z), cap) * prompts * done ** (prompts - 1) * density)


def wait_for_prompts(
    K: int, prompts: int, launched: int, sigma: float, cap: float = inf, between: float = 0.0
) -> float:
    """Mean time of a step, in medians, that waits for the first `prompts` of `launched` whole groups of K."""
    return integral(np.minimum(np.exp(sigma * Z), cap) * kth_density(prompts, launched, *group_law(K, between).longest))


@dataclass(frozen=True)
class GroupLaw:
    density: np.ndarray  # of a completion at z given its prompt, (difficulties, nodes)
    others_shorter: np.ndarray  # P(all other completions of the group are shorter)
    longest_other: np.ndarray  # density of the longest of the others
    longest: tuple[
        np.ndarray, np.ndarray
    ]  # distribution function and density, over all prompts, of the longest of the group


@lru_cache(maxsize=8)
def group_law(K: int, between: float) -> GroupLaw:
    """How the lengths within one group of K depend on each other."""
    shorter, density = by_prompt(SHORTER, between), by_prompt(DENSITY, between) / sqrt(1 - between)
    others = shorter ** (K - 1)
    longest = over_prompts(others * shorter, between), over_prompts(K * others * density, between)
    return GroupLaw(density, others, (K - 1) * shorter ** (K - 2) * density, longest)


def by_prompt(values: np.ndarray, between: float) -> np.ndarray:
    """Values at z for a prompt of difficulty u, (difficulties, nodes): `values` at (z − √between · u)/√(1 −
    between).
    """
    if between == 0:
        return values[np.newaxis]
    return np.stack([np.interp((Z - sqrt(between) * u) / sqrt(1 - between), Z, values) for u in U])


def over_prompts(by_difficulty: np.ndarray, between: float) -> np.ndarray:
    """Mean over prompts, (difficulties, nodes) -> (nodes,)."""
    return U_WEIGHT @ by_difficulty if between else by_difficulty[0]


# The same race, run on drawn completions


@dataclass(frozen=True)
class EarlyStop:
    accuracy_all: float
    accuracy_kept: float
    time_ratio: float  # time until K have finished over time until all `launched` have
    length_ratio: float  # mean length of the kept over the mean length of all
    gradient: np.ndarray  # gradient from the kept, (skill, length)
    exact: np.ndarray  # ∇J, (skill, length)
    cosine: float  # cosine between the two


def early_stop(K: int, launched: int, sigma: float, slope: float, groups: int, rng: np.random.Generator) -> EarlyStop:
    """Samples `groups` of `launched` completions, keeps the first K, and takes the gradient that they give.

    The policy has two parameters, skill θ and log length μ: z ~ N(μ, 1), then correct with probability 1/(1 + exp(−θ −
    slope · z)); here at (0, 0).
    """
    z = first_completions(rng.standard_normal((groups, launched)), launched)  # in finishing order
    p = 1 / (1 + np.exp(-slope * z))
    right = (rng.random(z.shape) < p).astype(float)
    length = np.exp(sigma * z)
    gradient, exact = group_gradient(z[:, :K], right[:, :K], p[:, :K]), policy_gradient(slope)
    return EarlyStop(
        accuracy_all=right.mean(),
        accuracy_kept=right[:, :K].mean(),
        time_ratio=length[:, K - 1].mean() / length[:, -1].mean(),
        length_ratio=length[:, :K].mean() / length.mean(),
        gradient=gradient,
        exact=exact,
        cosine=gradient @ exact / sqrt((gradient @ gradient) * (exact @ exact)),
    )


def drawn(prompts: int, K: int, between: float, rng: np.random.Generator) -> np.ndarray:
    """Standardized log lengths, (prompts, K); the fraction `between` of the variance lies between prompts."""
    return sqrt(between) * rng.standard_normal((prompts, 1)) + sqrt(1 - between) * rng.standard_normal((prompts, K))


def first_completions(z: np.ndarray, K: int) -> np.ndarray:
    """The first K of each group to finish, (prompts, launched) -> (prompts, K)."""
    return np.sort(z, axis=1)[:, :K]


def raced_steps(
    K: int, prompts: int, launched: int, sigma: float, slope: float, steps: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Steps in which every prompt keeps the first K of `launched` completions and no weight changes: (accuracy of those
    kept, medians until the slowest prompt has its K), each (steps,).
    """
    z = first_completions(rng.standard_normal((steps * prompts, launched)), K).reshape(steps, prompts, K)
    right = rng.random(z.shape) < 1 / (1 + np.exp(-slope * z))
    return right.mean(axis=(1, 2)), np.exp(sigma * z[:, :, -1]).max(axis=1)


def group_gradient(z: np.ndarray, right: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Policy gradient with the group's mean as baseline, (groups, K) -> (skill, length); times K/(K−1), which makes it
    unbiased on a fair sample.
    """
    K = z.shape[1]
    advantage = (right - right.mean(axis=1, keepdims=True)) * K / (K - 1)
    # ∂ log π/∂θ = right − p, ∂ log π/∂μ = z
    return np.array([(advantage * (right - p)).mean(), (advantage * z).mean()])


def policy_gradient(slope: float) -> np.ndarray:
    """∇J of the same policy, (skill, length): E[p(1−p)] (1, slope), by Stein's identity."""
    p = p_right(slope)
    return integral(p * (1 - p) * DENSITY) * np.array([1.0, slope])


def masked_length_gradient(slope: float, cutoff: float) -> float:
    """∂J/∂μ as it appears if completions with z > cutoff are left out of group and loss: Cov(p, z | z < cutoff)."""
    below, p = before(cutoff) * DENSITY, p_right(slope)
    mass, mean_z, mean_p = integral(below), integral(below * Z), integral(below * p)
    return integral(below * p * Z) / mass - mean_z * mean_p / mass**2


def punished_length_gradient(slope: float, cutoff: float) -> float:
    """∂J/∂μ if completions with z > cutoff score 0: E[p z; z < cutoff], the exact gradient of a different task, being
    correct within the cap.
    """
    return integral(before(cutoff) * DENSITY * p_right(slope) * Z)


@dataclass(frozen=True)
class Resumed:
    time: np.ndarray  # (steps,) in medians
    z: np.ndarray  # (steps, prompts, K) lengths of those trained on in each step
    versions: np.ndarray  # (steps, prompts) weight versions that each group spans: newest − oldest + 1


def resumed(
    K: int, prompts: int, launched: int, sigma: float, cap: float, between: float, steps: int, rng: np.random.Generator
) -> Resumed:
    """Partial rollouts: `launched` groups of K in flight; a step ends when `prompts` are complete.

    The others keep what they have and continue in the next step.
    """
    z = drawn(launched, K, between, rng)
    left = np.minimum(np.exp(sigma * z.max(axis=1)), cap)  # what the longest of each group still has to decode
    born = np.zeros(launched, dtype=np.int64)
    time, trained, versions = [], [], []
    for step in range(steps):
        done = np.argsort(left)[:prompts]
        bell = left[done[-1]]
        time.append(bell)
        trained.append(z[done])
        versions.append(step - born[done] + 1)
        left = left - bell
        z = z.copy()
        z[done] = drawn(prompts, K, between, rng)  # freed slots begin new prompts in the next step
        left[done] = np.minimum(np.exp(sigma * z[done].max(axis=1)), cap)
        born[done] = step + 1
    return Resumed(np.array(time), np.array(trained), np.array(versions))


# Seconds instead of tokens


def drain(
    lengths: Sequence[float] | np.ndarray, prompt: float, iteration_seconds: IterationSeconds, slots: float = inf
) -> tuple[np.ndarray, np.ndarray]:
    """One engine that starts as many sequences as it has slots, in the given order, and the next one in each slot that
    becomes free: -> (finish seconds, ascending; fraction of the sequences running before each finish).

    Every iteration adds a token to each running sequence, so starts and finishes are known in tokens first. Between two
    finishes the number of running sequences is constant, and each interval is one product: iterations ×
    iteration_seconds(running, KV tokens at its middle).
    """
    lengths = np.asarray(lengths, dtype=np.float64)
    n, slots = len(lengths), int(min(max(slots, 1), len(lengths)))
    starts, free = np.zeros(n), list(lengths[:slots])
    heapify(free)
    for i in range(slots, n):
        starts[i] = free[0]
        heapreplace(free, free[0] + lengths[i])
    order = np.argsort(starts + lengths, kind="stable")
    ends = (starts + lengths)[order]
    iterations, middle = np.diff(ends, prepend=0.0), (ends + np.concatenate([[0.0], ends[:-1]])) / 2
    running = np.minimum(float(slots), np.arange(n, 0.0, -1.0))
    # tokens decoded by the middle by those that run: its time minus their starts
    started = np.concatenate([[0.0], np.cumsum(starts)])[np.minimum(np.arange(n) + slots, n)]
    finished = np.concatenate([[0.0], np.cumsum(starts[order])])[:-1]
    kv_tokens = running * (prompt + middle) - (started - finished)
    return np.cumsum(iterations * iteration_seconds(running, kv_tokens)), running / n


def tail_of(finish: np.ndarray, running: np.ndarray, share: float = 0.1) -> tuple[float, float]:
    """(fraction of the time spent on the last `share` of the sequences, mean fraction of sequences running
    meanwhile).
    """
    first = int((1 - share) * len(finish))  # sequences that finish before the tail begins
    seconds = np.diff(finish, prepend=0.0)[first:]
    return seconds.sum() / finish[-1], (seconds * running[first:]).sum() / seconds.sum()


# The trainer's side of a long tail


def overlong_penalty(length: Numbers, cap: float, buffer: float) -> Numbers:
    """DAPO's soft overlong punishment: 0 up to cap − buffer, then linear to −1 at the cap, −1 beyond."""
    return -np.clip((length - (cap - buffer)) / buffer, 0.0, 1.0)


def padding_efficiency(lengths: Sequence[float] | np.ndarray) -> float:
    """Fraction of a padded batch that is tokens: mean length over longest."""
    return np.mean(lengths) / np.max(lengths)


def packing(lengths: Sequence[float] | np.ndarray, budget: int) -> list[list[int]]:
    """First-fit decreasing: rows of at most `budget` tokens, as lists of indices; longest first, each into the first
    row with room.
    """
    if max(lengths) > budget:
        raise ValueError("a completion is longer than the budget of a row: packing does not split one")
    room = np.full(len(lengths), float(budget))
    rows: list[list[int]] = []
    for i in np.argsort(-np.asarray(lengths), kind="stable"):
        row = int(np.argmax(room >= lengths[i]))
        if row == len(rows):
            rows.append([])
        rows[row].append(int(i))
        room[row] -= lengths[i]
    return rows


def dealt_loads(work: np.ndarray, ranks: int) -> np.ndarray:
    """Work of each rank if completions are dealt out round-robin."""
    return np.array([np.sum(work[rank::ranks]) for rank in range(ranks)])


def longest_first_loads(work: np.ndarray, ranks: int) -> np.ndarray:
    """Work of each rank if the largest goes first, each to the rank with the least work so far (LPT: Graham, 1969)."""
    loads = [0.0] * ranks
    heapify(loads)
    for item in sorted(np.asarray(work, dtype=np.float64).tolist(), reverse=True):
        heapreplace(loads, loads[0] + item)
    return np.array(loads)


def imbalance(loads: np.ndarray) -> float:
    """Busiest rank over the mean, which is how long a synchronous update waits relative to a fair share."""
    return np.max(loads) / np.mean(loads)


def sampled_lengths(n: int, median: float, sigma: float, cap: float, rng: np.random.Generator) -> np.ndarray:
    """n completion lengths in whole tokens, min(⌈median · exp(σz)⌉, cap)."""
    return np.minimum(np.ceil(median * np.exp(sigma * rng.standard_normal(n))), cap)


# Integrals on the grid


def kth_density(k: int, n: int, below: np.ndarray = SHORTER, density: np.ndarray = DENSITY) -> np.ndarray:
    """Density of the k-th smallest of n on the grid: n!/((k−1)!(n−k)!) F^(k−1) (1−F)^(n−k) f, in logs because 512
    choose 256 is 1e153.
    """
    above = LONGER if below is SHORTER else 1 - below

    def power(base: np.ndarray, exponent: int) -> np.ndarray | float:
        return exponent * np.log(np.maximum(base, 1e-300)) if exponent else 0.0

    log_count = lgamma(n + 1) - lgamma(k) - lgamma(n - k + 1)
    return np.exp(log_count + power(below, k - 1) + power(above, n - k)) * density


def integral(values: np.ndarray) -> float:
    """Trapezoid rule over the grid, whose ends are 0 to the last bit, so that it converges faster than any power of the
    step.
    """
    return float(values.sum() * STEP)


def mean_over(trained: np.ndarray, values: np.ndarray) -> float:
    """Mean of `values` over those trained on; NaN if there are none."""
    mass = integral(trained * DENSITY)
    return integral(values * trained * DENSITY) / mass if mass > 0 else nan


def running_integral(values: np.ndarray) -> np.ndarray:
    """Integral from the left end to each node, over the last axis: trapezoid rule with the first Euler-Maclaurin
    correction.
    """
    total = (np.cumsum(values, axis=-1) - values / 2) * STEP
    total[..., 1:-1] -= STEP / 24 * (values[..., 2:] - values[..., :-2])
    return total


def cumulative(density: np.ndarray) -> np.ndarray:
    """The distribution function of a density on the grid, from 0 to 1."""
    return np.clip(running_integral(density), 0.0, 1.0)


def before(cutoff: float) -> np.ndarray:
    """1 where z < cutoff, 0 beyond, on the grid; the node at the edge counts for the part of its cell before it."""
    return np.clip((cutoff - Z) / STEP + 0.5, 0.0, 1.0)
