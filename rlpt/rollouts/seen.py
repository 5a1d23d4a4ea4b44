"""One step of a run as it is seen: who is paid, who is right, which groups there are. Counting, not a model."""

from dataclasses import dataclass

import numpy as np

from sim.rollouts import groups, marks
from sim.rollouts.report import Report

FULL = 1 - 1e-6  # of a score's range
SHARED = 6  # characters up to which a beginning that all prompts share, as a chat template, is shown


@dataclass(frozen=True)
class Seen:
    """`rows` (n,) are places in the run's rollouts, sorted by group. `paid` (n,) are those that got at least half of
    the most that the file pays, None if no reward is known; `right` (n,) those that have full marks in `score`, the
    logged and unpaid score that answers are held against, None without one. `binary` says that rewards take two values.
    `order` are the groups of the step by their mean reward.
    """

    report: Report
    step: int
    rows: np.ndarray
    paid: np.ndarray | None
    right: np.ndarray | None
    score: str
    binary: bool
    order: list[int]

    @property
    def unpaid(self):
        """What to call `score`."""
        return "the unpaid score" if self.report.attribution.told else "the score"

    @property
    def numbers(self):
        """The Step of sim.rollouts.groups."""
        return next(one for one in self.report.steps if one.step == self.step)

    def of_group(self, group):
        """Places in `rows` of one group."""
        first, last = np.searchsorted(self.report.rollouts.group[self.rows], [group, group + 1])
        return np.arange(first, last)


def judge(report):
    """The name of the unpaid score that answers are held against, or ""."""
    return marks.judge(report.rollouts, report.attribution.unpaid(report.rollouts.scores))


def seen(report, step):
    """The Seen of one step."""
    r = report.rollouts
    rows = np.flatnonzero(r.step == step)
    score = judge(report)
    paid = None if r.reward is None else groups.well_paid(r.reward)[rows]
    right = r.scores[score][rows] >= FULL * np.nanmax(r.scores[score]) if score else None
    binary = r.reward is not None and len(np.unique(r.reward[np.isfinite(r.reward)])) <= 2
    first = list(dict.fromkeys(r.group[rows].tolist()))
    rates = None if r.reward is None else groups.rates(r.reward, r.group)
    order = first if rates is None else sorted(first, key=lambda group: np.nan_to_num(rates[group]))
    return Seen(report, int(step), rows, paid, right, score, binary, order)


def widest(report):
    """The step at which the reward and the score that answers are held against are furthest apart; without one the last
    step at which the first finding is strongest, else the last of all.
    """
    score = judge(report)
    if score and report.rollouts.reward is not None:
        low, top = groups.reward_range(report.rollouts.reward)
        gaps = [(one.reward - low) / max(top - low, 1e-300) - one.scores[score] for one in report.steps]
        if np.nanmax(gaps) > 0:
            return report.steps[int(np.nanargmax(gaps))].step
    return report.findings[0].last if report.findings else report.steps[-1].step


def telling(seen):
    """The group of a step that shows the most: of those with the most kinds of completions the first."""

    def kinds(group):
        rows = seen.of_group(group)
        paid = np.zeros(len(rows)) if seen.paid is None else seen.paid[rows]
        right = np.zeros(len(rows)) if seen.right is None else seen.right[rows]
        return len(set(zip(paid.tolist(), right.tolist())))

    return max(seen.order, key=kinds)


def prompts(seen):
    """{group: its prompt, without a long beginning that is the same in all groups of the step}."""
    texts = {group: seen.report.rollouts.prompts[group] for group in seen.order}
    common = beginning(list(texts.values()))
    return {group: f"…{text[common:]}" for group, text in texts.items()} if common > SHARED else texts


def beginning(texts):
    """Characters that all texts have in common at the beginning, up to the last space or line break."""
    first, last = min(texts), max(texts)
    same = next((i for i, (a, b) in enumerate(zip(first, last)) if a != b), min(len(first), len(last)))
    return 0 if len(texts) < 2 or same == len(last) else max(first.rfind(" ", 0, same), first.rfind("\n", 0, same)) + 1
