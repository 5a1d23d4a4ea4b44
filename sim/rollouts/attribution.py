"""Which rule, and which weights of the logged scores, reproduce the advantages that a trainer logged: closed form.

No file says what was paid, and a column that was only logged looks like a paid one. Each rule of advantages.py is tried
with weights of 1, with one score alone, and with weights fitted by least squares (Gauss (1809)).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sim.rollouts import advantages
from sim.rollouts.rows import spread_of

NAMED = 2e-3  # the largest error of a rule that is named; of 26 runs the right one had 1.2e-3 and less, others 0.11
NEAR = 0.95  # the correlation from which the nearest rule is named as near
ROWS = 16_384  # that the rules are tried on
ROWS_TO_FIT = 2_048
GRIDS = (0.25, 0.05, 0.01)  # a fitted weight is taken to be round if that fits as well
STEPS = 20  # of Gauss-Newton


@dataclass(frozen=True)
class Attribution:
    """`rule` is one of advantages.RULES or GDPO, or None if none is known. `weights` has one number per score: 0 if it
    was not paid, nan if no file can tell, because it varies in no group or most rows lack it. `error` is the largest
    difference to the logged advantages (or rewards, if `rule` is None), nan without any. A `near` rule explains most of
    them, not all. If nothing `varies`, all rules agree.
    """

    rule: str | None
    weights: dict[str, float] | None
    error: float
    near: bool = False
    varies: bool = True

    @property
    def told(self):
        """Whether the file tells which scores were paid; if not, `unpaid` lists all of them."""
        return self.weights is not None

    def unpaid(self, scores):
        """The names among `scores` that were not paid, as far as the file can tell."""
        if self.weights is None:
            return list(scores)
        return [name for name in scores if self.weights.get(name) == 0]


def attribution(rollouts):
    """What the file says about its own rule and rewards; the reward itself counts as a score with weight 1."""
    names, columns = list(rollouts.scores), list(rollouts.scores.values())
    weights = None
    if rollouts.reward is not None:
        error, weights = of_reward(rollouts)
        names, columns = ["reward"], [rollouts.reward]
    if rollouts.advantage is None:
        return Attribution(None, weights, error if weights else np.nan)
    S, A = np.array(columns).reshape(len(names), len(rollouts)), rollouts.advantage
    varied = np.array([varies(one, rollouts.group) for one in S], bool)
    if not varied.any():
        silent = np.abs(A).max(initial=0) < NAMED
        alone = dict.fromkeys(names, 1.0 if len(names) == 1 else np.nan)
        return Attribution(None, alone if rollouts.reward is None else weights, np.nan, varies=not silent)
    to_fit = rules_for(varied.sum()) if rollouts.reward is None else []
    rule, fitted, error, near = best(S[varied], A, rollouts.group, rollouts.step, to_fit)
    if rollouts.reward is None and rule is not None:
        weights = {name: np.nan for name in names} | dict(zip(np.array(names)[varied].tolist(), fitted.tolist()))
    elif rollouts.reward is None and len(names) == 1:
        weights = {names[0]: 1.0}
    return Attribution(rule, weights, error, near)


def paid(rollouts, found):
    """The rollouts with their `reward`, if the file or its attribution says what that is.

    assumed: scores count with weight 1 each if none of them varies in a group; every weight gives the same ties.
    """
    if rollouts.reward is not None or not found.weights:
        return rollouts
    weights = {name: weight for name, weight in found.weights.items() if np.isfinite(weight)}
    weights = weights or dict.fromkeys(found.weights, 1.0)
    S = np.array([rollouts.scores[name] for name in weights])
    return replace(rollouts, reward=advantages.total(S, list(weights.values())))


def varies(score, group):
    """Whether a score differs anywhere within a group."""
    known = np.isfinite(score)
    kept = np.unique(group[known], return_inverse=True)[1]
    return bool(known.any() and (spread_of(score[known], kept) > 1e-9).any())


def of_reward(rollouts):
    """(largest error, weights) if the reward is a weighted sum of scores plus a constant, otherwise (nan, None)."""
    names = list(rollouts.scores)
    S = np.array([rollouts.scores[name] for name in names]).reshape(len(names), len(rollouts))
    kept, known = mostly_known(S, rollouts.reward)
    S, reward = S[:, known], rollouts.reward[known]
    if not kept or len(reward) < 2:
        return np.nan, None
    centered, target = S - S.mean(axis=1, keepdims=True), reward - reward.mean()
    varied = np.array([i for i in kept if np.abs(centered[i]).max() > 1e-9], np.int64)
    for some in [*np.split(varied, len(varied)), varied] if len(varied) else []:  # one score that explains it is enough

        def error(weights, columns=centered[some]):
            return float(np.abs(weights @ columns - target).max())

        fitted = rounded(np.linalg.lstsq(centered[some].T, target, rcond=1e-9)[0], error)
        if error(fitted) < NAMED:
            weights = np.full(len(names), np.nan)
            weights[varied] = 0.0
            weights[some] = fitted
            return error(fitted), dict(zip(names, weights.tolist()))
    return np.nan, None


def mostly_known(S, reward):
    """(numbers of scores, rows (N,)): as many of the scores S (m, N), the fullest first, as half of the rows with a
    reward have, and the rows that have all of these.
    """
    finite, known = np.isfinite(S), np.isfinite(reward)
    kept, least = [], known.sum() / 2
    for i in np.argsort(-finite.sum(axis=1), kind="stable").tolist():
        if (known & finite[i]).sum() >= least:
            kept, known = sorted([*kept, i]), known & finite[i]
    return kept, known


def rules_for(m):
    """The names of the rules that m scores tell apart: GDPO with one score is GRPO."""
    return [*advantages.RULES, advantages.GDPO] if m > 1 else list(advantages.RULES)


def best(S, A, group, step, to_fit):
    """(rule, weights (m,), largest error, near) of the rule that comes closest to the advantages A (N,): with weights
    of 1, with one score alone, and for the rules `to_fit` with fitted weights.
    """
    whole = Trial(S, A, group, step)
    trial = whole.on(ROWS)
    few = trial.on(ROWS_TO_FIT)
    simple = [np.ones(len(S)), *np.eye(len(S))] if len(S) > 1 else [np.ones(1)]
    simple = [(name, weights) for weights in simple for name in rules_for(len(S))]
    tried = [one for one in simple if few.largest(*one) < NAMED]
    errors = np.array([trial.largest(*one) for one in tried])
    if errors.min(initial=np.inf) >= NAMED:
        fits = [(name, few.fitted(name)) for name in to_fit]
        of_fits = np.array([trial.largest(*one) for one in fits])
        if of_fits.min(initial=np.inf) < NAMED:
            # round weights first, among them those with a 1: RLOO is K / (K - 1) Dr. GRPO
            good = [i for i in np.argsort(of_fits, kind="stable") if of_fits[i] < NAMED]
            tried, errors = [min((fits[i] for i in good), key=lambda one: roughness(one[1]))], np.zeros(1)
        else:
            tried = simple + fits
            errors = np.array([few.typical(*one) for one in tried])
    # the first and simplest of those that fit about as well as the best: equal rules differ by rounding
    name, weights = tried[int(np.argmax(errors <= 1.1 * errors.min() + 1e-6))]
    error = whole.largest(name, weights)
    if error < NAMED:
        return name, weights, error, False
    near = whole.correlation(name, weights) >= NEAR
    return (name if near else None), weights, error, near


@dataclass(frozen=True)
class Trial:
    """Scores S (m, N) and logged advantages A (N,), on which rules are tried."""

    S: np.ndarray
    A: np.ndarray
    group: np.ndarray
    step: np.ndarray

    def on(self, most):
        """The Trial on whole steps, about `most` rows in all."""
        rows = some_steps(self.step, most)
        return Trial(self.S[:, rows], self.A[rows], self.group[rows], self.step[rows])

    # what is the same for all weights
    @cached_property
    def unknown(self):
        return np.isnan(self.S).all(axis=0)

    @cached_property
    def scores(self):
        return np.nan_to_num(self.S)

    @cached_property
    def z_scores(self):
        return np.nan_to_num(advantages.each_alone(self.S, self.group, self.step))

    @cached_property
    def flat(self):
        """The weights with which the centered scores come closest to the advantages."""
        centered = np.array([self.made("Dr. GRPO", one) for one in np.eye(len(self.S))])
        return np.linalg.lstsq(centered.T, np.nan_to_num(self.A), rcond=1e-9)[0]

    def made(self, name, weights):
        """The advantages (N,) of a rule, when these scores are paid with these weights (m,)."""
        rule = advantages.RULES.get(name, advantages.gdpo)
        paid = weights @ (self.z_scores if name == advantages.GDPO else self.scores)
        return rule(np.where(self.unknown, np.nan, paid), self.group, self.step)

    def difference(self, name, weights):
        return np.nan_to_num(self.A) - self.made(name, weights)

    def largest(self, name, weights):
        return float(np.abs(self.difference(name, weights)).max())

    def typical(self, name, weights):
        return float(np.sqrt(np.square(self.difference(name, weights)).mean()))

    def correlation(self, name, weights):
        made, A = self.made(name, weights), np.nan_to_num(self.A)
        made, A = made - made.mean(), A - A.mean()
        return float((made * A).sum() / max(np.sqrt((made**2).sum() * (A**2).sum()), 1e-300))

    def fitted(self, name):
        """Weights by Gauss-Newton from the weights of the centered scores; shorter where a step makes things worse."""
        weights = self.sized(name, self.flat)
        at = self.typical(name, weights)
        for _ in range(STEPS):
            off = self.difference(name, weights)
            moved = [self.difference(name, weights + 1e-6 * one) for one in np.eye(len(weights))]
            slope = (off - np.array(moved)) / 1e-6
            move = np.linalg.pinv(slope @ slope.T, rcond=1e-6, hermitian=True) @ (slope @ off)
            steps = [self.sized(name, weights + move / 4**i) for i in range(5)]
            better = next((one for one in steps if self.typical(name, one) < at * (1 - 1e-4)), None)
            if better is None:
                break
            weights, at = better, self.typical(name, better)
        return rounded(weights, lambda one: self.largest(name, one))

    def sized(self, name, weights):
        """A rule that divides by a deviation cannot tell the size of its weights: the largest is 1."""
        size = np.abs(weights).max()
        return weights / size if name in advantages.SCALED and size > 0 else weights


def rounded(weights, error):
    """The roundest weights that fit about as well."""
    limit = 1.5 * error(weights) + 1e-4
    for grid in GRIDS:
        near = np.round(weights / grid) * grid + 0.0  # -0.0 is 0
        if near.any() and error(near) <= min(limit, NAMED):
            return near
    return weights


def roughness(weights):
    """(place in GRIDS, whether no weight is 1): smaller is rounder."""
    place = next((i for i, grid in enumerate(GRIDS) if np.allclose(weights, np.round(weights / grid) * grid)), 9)
    return place, not np.isclose(weights, 1).any()


def some_steps(step, most):
    """Rows (n,) of whole steps, evenly spaced, about `most` of them; at least one step."""
    steps = np.unique(step)
    count = max(1, min(len(steps), len(steps) * most // len(step)))
    kept = steps[np.linspace(0, len(steps) - 1, count).round().astype(np.int64)]
    return np.flatnonzero(np.isin(step, kept))
