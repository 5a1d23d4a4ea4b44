"""What *Read the rollouts* finds in a run's completions, as events beside those of its log, which alone is diagnosed.

It is not a model: the steps of the two are matched by their numbers.
"""

from dataclasses import replace

from rlpt.doctor.marks import Event
from rlpt.rollouts.sentences import sentence
from sim.words import counted

UNREAD = "The completions could not be read:"


def added(report, brought):
    """The Report of the log with the findings of the completions that were brought with it."""
    if brought.fault:
        return replace(report, beside=(f"{UNREAD} {brought.fault}",))
    if brought.done is None:
        return report
    rows, steps = len(brought.done.rollouts), len(brought.done.steps)
    kept = f"{brought.read.format} were read, too: {counted(rows, 'completion')} of {counted(steps, 'step')}"
    if report.found.unit != "step":
        return replace(report, beside=(f"{kept}. The log names no steps, so see there what was found in them.",))
    found = [event(report.run, finding) for finding in brought.done.findings]
    beside = (f"{kept}{'' if found else ', in which nothing was found'}.", *brought.read.notes)
    return replace(report, events=tuple(sorted([*report.events, *found], key=lambda each: each.step)), beside=beside)


def event(run, finding):
    """A Finding as an Event of the step at which it begins."""
    says = sentence(replace(finding, since=finding.first)).removesuffix(".")  # the event has its step already
    return Event(finding.name, run.batch_of(finding.since), float(finding.since), says, "")
