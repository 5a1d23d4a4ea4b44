"""Everything that the page and the terminal say about a run, computed once. It is not a model."""

from dataclasses import dataclass, replace

from sim.rollouts import attribution, findings, groups, mismatch, phrases
from sim.rollouts.phrases import Phrase
from sim.rollouts.rows import Rollouts


@dataclass(frozen=True)
class Report:
    """`rollouts` with their reward, if it is known. `phrases` is None until they were asked for (`with_phrases`)."""

    rollouts: Rollouts
    attribution: attribution.Attribution
    steps: list[groups.Step]
    mismatch: mismatch.Mismatch | None
    findings: list[findings.Finding]
    phrases: list[Phrase] | None = None


def report(rollouts):
    """The Report of at least one completion, without what is said about phrases."""
    rule = attribution.attribution(rollouts)
    paid = attribution.paid(rollouts, rule)
    return Report(
        rollouts=paid,
        attribution=rule,
        steps=groups.steps(paid),
        mismatch=mismatch.mismatch(paid),
        findings=findings.found(paid, rule),
    )


def with_phrases(report):
    """The Report with its phrases, and with the findings about them in their place."""
    read = phrases.grams(report.rollouts)
    paid = [] if report.rollouts.reward is None else phrases.paid_phrases(report.rollouts, read)
    more = findings.found_in_words(report.rollouts, report.attribution, read, paid)
    return replace(report, findings=findings.in_order([*report.findings, *more]), phrases=paid)
