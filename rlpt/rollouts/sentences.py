"""The findings of a run in words, for the pages and the terminal alike. Not a model."""

from rlpt.rollouts.shown import column, phrase_words, quoted, short
from sim.rollouts import findings
from sim.words import capital

SENTENCES = {  # with the finding's numbers; {at} are the steps at which it is strongest, {about} what it names
    findings.APART: "Importance weights between sampler and trainer leave {effective} of {tokens} tokens (k3 {k3} nats "
    "per token).",
    findings.PAID_NOT_RIGHT: "{wrong} of the {paid} completions with full reward {at} get the lowest value of {about}.",
    findings.PARTS: "The reward rises from {reward_then} at the beginning to {reward} {at}, while {about} falls from "
    "{score_then} to {score}.",
    findings.PHRASE: "Texts that contain {about} get {pays} more reward than the others of their group. Their "
    "score is {score}.",
    findings.TWO_REWARDS: "Identical completions of the same prompt got different rewards in {differ} of {sets} "
    "cases {at}.",
    findings.ONE_TEXT: "{count} of {completions} completions {at} are the same text, {about}.",
    findings.STUCK: "In {tied} of {groups} groups {at}, all completions get the same reward, and it is not the "
    "highest. Nothing pushes them toward a better one.",
    findings.NEVER_PAID: "In {tied} of {groups} groups {at}, no completion is paid, so they teach nothing.",
    findings.LENGTH: "Longer completions are paid more: in {groups} groups {at}, the rank correlation of length and "
    "reward is {mean} on average.",
    findings.CUT: "{count} of {completions} completions {at} are cut off by the length limit.",
    findings.EMPTY: "{count} of {completions} completions {at} are empty.",
    findings.LOOPS: "{count} of {completions} completions {at} end in a loop.",
    findings.HABIT: "{share} of the texts {at} contain {about}, up from {before} at the beginning.",
    findings.CONSTANT: "The score {about} is {value} in every row, so it taught nothing.",
}
SHARES = {"share", "before", "effective"}


def sentence(finding):
    """One or two sentences about a Finding."""
    numbers = {
        name: f"{100 * value:.0f} %" if name in SHARES else short(value) if isinstance(value, float) else f"{value:,}"
        for name, value in finding.numbers.items()
    }
    if finding.name == findings.PHRASE:
        numbers["score"] = lower(finding.numbers["score"])
    at = f"at step {finding.first}" if finding.first == finding.last else f"at steps {finding.first} to {finding.last}"
    if isinstance(finding.about, tuple):
        about = phrase_words(finding.about, finding.numbers["times"])
    else:
        about = quoted(finding.about) if finding.name == findings.ONE_TEXT else column(finding.about)
    since = "" if finding.since >= finding.first else f" This begins at step {finding.since}."
    return SENTENCES[finding.name].format(**numbers, at=at, about=about) + since


def lower(difference):
    """By how much a score is lower, or higher."""
    amount = short(abs(difference))
    return "the same" if amount == "0" else f"{amount} {'lower' if difference < 0 else 'higher'}"


def title(finding):
    return capital(finding.name)


def apart(report):
    """A sentence on the log-probs of sampler and trainer, or "" if the file does not have both."""
    m = report.mismatch
    if m is None:
        return ""
    return (
        f"The trainer gives {100 * m.above:.2g} % of the {m.tokens:,} tokens more than twice the probability that the "
        f"sampler gave, and {100 * m.below:.2g} % less than half of it. With importance weights, the effective "
        f"number of tokens is {100 * m.effective_share:.3g} % of that (k3 {m.k3:.2g} nats per token)."
    )
