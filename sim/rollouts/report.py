"""Everything that the page and the terminal say about a run, computed once. It is not a model."""

from dataclasses import dataclass

from sim.rollouts import attribution, findings, groups, mismatch, phrases
from sim.rollouts.phrases import Phrase
from sim.rollouts.rows import Rollouts


@dataclass(frozen=True)
class Report:
    """`rollouts` with their reward, if it is known."""

    rollouts: Rollouts
    attribution: attribution.Attribution
    steps: list[groups.Step]
    mismatch: mismatch.Mismatch | None
    phrases: list[Phrase]
    findings: list[findings.Finding]


def report(rollouts):
    """The Report of at least one completion."""
    rule = attribution.attribution(rollouts)
    paid = attribution.paid(rollouts, rule)
    differ, grams = mismatch.mismatch(paid), phrases.grams(paid)
    paying = [] if paid.reward is None else phrases.paid_phrases(paid, grams)
    return Report(
        rollouts=paid,
        attribution=rule,
        steps=groups.steps(paid),
        mismatch=differ,
        phrases=paying,
        findings=findings.found(paid, rule, differ, grams, paying),
    )
