"""A diagnosis by the order of events: whatever holds is a candidate with a time, and the earliest is the verdict,
because an earlier fault imitates the later ones. At one time the order is infrastructure, data, reward, optimizer.

It is not a model. The order of kinds is that of sim/estimators/diagnosis.py.
"""

from dataclasses import dataclass

from rlpt.doctor import columns, events, facts, preferences, scorers, signs, words
from rlpt.doctor.curves import Run
from rlpt.doctor.signs import Seen, sign


@dataclass(frozen=True)
class Report:
    found: columns.Found
    run: Run
    scores: scorers.Scores
    facts: tuple  # of Fact, alarms first
    events: tuple  # of Event, in time
    signs: tuple  # of Diagnosis, the first in time first
    told: str = ""  # what cannot be told
    beside: tuple = ()  # sentences about the completions that were read beside the log

    @property
    def first(self):
        return self.signs[0] if self.signs else None

    @property
    def alarms(self):
        return tuple(fact for fact in self.facts if fact.alarm)

    @property
    def status(self):
        return 1 if self.signs or self.alarms else 0


def report(log, held_out="", mapped=None, k=0, updates=1):
    """The Report of a Log; `held_out` names a column, `mapped` is {quantity: column}, `k` completions a prompt."""
    quantities = columns.quantities(log, mapped, k)
    run = Run(quantities)
    if quantities.of_preferences:
        return report_of_preferences(quantities, run)
    scores = scorers.scores(quantities, held_out)
    seen = tuple(events.found(run, scores.scorers))
    diagnoses = diagnosed(run, scores, Seen(seen))
    read = facts.found(run, scores, updates)
    return Report(quantities, run, scores, read, seen, diagnoses, "" if diagnoses else unsaid(run))


def report_of_preferences(found, run):
    seen = tuple(preferences.events(run))
    read = facts.alarms_first([*preferences.facts(run), *facts.gradient(run), *facts.rate(run), *facts.numbers(run)])
    diagnoses = tuple(sign(run, *of_sign) for of_sign in preferences.signs(run, seen))
    return Report(found, run, scorers.Scores({}, (), {}), read, seen, diagnoses)


def diagnosed(run, scores, seen):
    """All signs, the first in time first; states that were there before a fault and did not hinder go last."""
    wreck = signs.wrecked(run, seen)
    spell = signs.spell(run, seen, wreck)
    lost = spell or wreck
    asked = [
        *signs.impossible_kl(run),
        *signs.lost_gradient(run),
        *signs.no_advantage(run),
        *signs.infrastructure(run, seen),
        *signs.never_differs(run),
        *signs.uniform_groups(run, seen, lost),
        *(each for each in (spell, wreck) if each),
        *signs.paid_for_else(run, scores, seen),
        *signs.traded(run, scores),
        *signs.memorized(run, scores, seen),
        *signs.length_paid(run, scores, seen, lost),
        *signs.far(run, seen, lost),
        *signs.outweighed(run, seen),
        *signs.narrower(run, seen, lost),
    ]
    asked += signs.declined(run, asked)
    asked += signs.drift(run, seen, asked)
    asked += signs.saturated(run, seen, asked)
    asked += signs.flat(run, asked)
    return tuple(
        sorted(asked, key=lambda one: (one.aside or one.name == "easy", one.place, words.SIGNS[one.name].rank))
    )


def unsaid(run):
    """What cannot be told where nothing was found."""
    if not run.has("reward"):
        return "Cannot tell whether the reward rose: the log has none."
    if run.rise is None or not run.scale:
        return "Cannot tell whether the reward rose: there are too few batches, or its deviation is 0 or not logged."
    if not run.rose:
        return f"Cannot tell whether the reward rose: {signs.rise_in_words(run)}."
    return ""
