"""All that is known of a run and of one of its steps, as data. Not a model."""

from dataclasses import asdict

import numpy as np

from rlpt.rollouts.sentences import sentence
from rlpt.rollouts.words import facts, forms, headline
from sim.rollouts.phrases import NUMBER


def as_dict(read, report, seen):
    """What the terminal writes as JSON; numbers that are not known are None."""
    a = report.attribution
    return plain(
        dict(
            format=read.format,
            notes=[*read.notes, *(f"{name}: {why}" for name, why in read.left_out.items())],
            columns=read.columns,
            completions=len(report.rollouts),
            groups=len(report.rollouts.prompts),
            advantages=dict(rule=a.rule, weights=a.weights, error=a.error, near=a.near, varies=a.varies),
            step=seen.step,
            headline=" ".join(filter(None, headline(seen))),
            facts=[
                dict(key=one.key, big=one.big, says=one.says, more=one.more, alarm=one.alarm, rows=len(one.rows))
                for one in facts(seen)
            ],
            forms=[dict(count=count, text=text, beginning=then) for count, text, then in forms(seen)[1]],
            findings=[
                dict(name=one.name, since=one.since, first=one.first, last=one.last, numbers=one.numbers)
                | dict(about=spelled(one.about), says=sentence(one), rows=len(one.rows))
                for one in report.findings
            ],
            phrases=[
                dict(words=spelled(one.words), times=one.times, pays=one.pays, scores=one.scores, prompts=one.prompts)
                for one in report.phrases
            ],
            mismatch=report.mismatch and asdict(report.mismatch),
            steps=[asdict(one) for one in report.steps],
        )
    )


def spelled(about):
    """A name, or the words of an n-gram with # for each number."""
    return about if isinstance(about, str) else ["#" if word == NUMBER else word for word in about]


def plain(value):
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value
