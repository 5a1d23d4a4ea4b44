"""What may be said: a fact is read off, a sign is consistent with a cause and no proof of it, the rest cannot be told.

No run is ever called well. It is not a model.
"""

from dataclasses import dataclass

from rlpt import logs
from rlpt.doctor.columns import ASKED_FOR
from rlpt.metric_names import QUANTITIES, nearest
from sim import words

INFRASTRUCTURE, DATA, REWARD, OPTIMIZER = range(4)
UNSAID = "A training log cannot show that nothing is wrong."
LAB = "trace_lab"


@dataclass(frozen=True)
class Sign:
    rank: int
    short: str  # at most three words
    says: str
    lesson: str
    widget: str  # a setting that looks the same
    preset: str
    turned: str = ""  # and what is turned beyond it, as a query


SIGNS = {
    "gap": Sign(
        *(INFRASTRUCTURE, "sampler and trainer", "Sampler and trainer disagree before any update."),
        *("02", "rollout", "Two temperatures"),
    ),
    "stale": Sign(
        *(INFRASTRUCTURE, "other samples", "The samples are older or other than the weights, which need not cost."),
        *("22c", "weight_sync", "Lag 8, no correction"),
    ),
    "no number": Sign(
        *(INFRASTRUCTURE, "no number", "From here on there are no numbers: the run may have diverged there or before."),
        *("10", "compare", "GRPO at PPO's rate"),
    ),
    "rate": Sign(
        *(INFRASTRUCTURE, "nothing updated", "Nothing is updated: the learning rate moves no weight."),
        *("05", "controller", "Forgot to sync"),
    ),
    "truncation": Sign(
        *(
            DATA,
            "cut answers",
            "Nothing is paid, and many completions are cut off: the limit may be why, or the verifier.",
        ),
        *("22b", "long_tail", "Cut off, scored wrong"),
    ),
    "verifier": Sign(
        *(DATA, "one reward", "The verifier pays nothing, or all alike; or nothing that it pays for is within reach."),
        *("18", "what_rl_adds", "Nothing to amplify"),
    ),
    "groups": Sign(
        *(DATA, "uniform groups", "Most groups hold one reward for all: prompts are too hard or too easy to teach."),
        *("13", "grpo", "Hard sums, fours"),
    ),
    "hacked": Sign(
        *(
            REWARD,
            "paid for else",
            "The reward rises and a score that was not trained on does not: it is paid for what that scorer does not "
            "count. Either of the two may be wrong.",
        ),
        *("03", "reward_and_reference", "Leaky, β of R1"),
    ),
    "memorized": Sign(
        *(
            REWARD,
            "memorized",
            "The prompts that are trained on are memorized, as far as the others tell: the same reward hardly rises on "
            "them.",
        ),
        *("07", "controller", "Healthy", "held_out=on"),
    ),
    "length": Sign(
        *(REWARD, "length", "Length may be what is paid for; a scorer that was not trained on would tell."),
        *("14", LAB, "0.15 a doubling"),
    ),
    "cut off": Sign(
        *(REWARD, "cut off", "Completions reach their cap: what a cut answer is paid decides what is learned."),
        *("22b", "long_tail", "Cut off, scored wrong"),
    ),
    "step": Sign(
        *(
            OPTIMIZER,
            "policy destroyed",
            "The policy was destroyed here: a step too long, by its rate, the updates on a batch, a clip too wide or "
            "too few completions.",
        ),
        *("10", "trainer", "Learning rate 0.1"),
    ),
    "fell": Sign(
        *(OPTIMIZER, "reward lost", "The reward fell here and did not come back; nothing else that is logged moved."),
        *("10", "trainer", "Learning rate 0.1"),
    ),
    "jump": Sign(
        *(OPTIMIZER, "two updates", "Most of the way was gone in two updates."),
        *("10", LAB, "Rate 60, 4 passes, wide clip"),
    ),
    "far": Sign(
        *(OPTIMIZER, "far away", "The policy is far from its reference, and no better."),
        *("10", LAB, "Rate 60, 4 passes, wide clip"),
    ),
    "penalty": Sign(
        *(REWARD, "KL outweighs", "The KL term outweighs the reward: the policy is held, or pulled back."),
        *("03", "reward_and_reference", "Leaky reward model", "beta=20"),
    ),
    "narrower": Sign(*(OPTIMIZER, "narrower", "Narrower, and no better."), *("12", LAB, "Rate 1.5, 1 pass, no bonus")),
    "drift": Sign(
        *(OPTIMIZER, "drift", "The policy moves and the reward does not."),
        *("09", "what_rl_adds", "Every reward + 10, no baseline"),
    ),
    "saturated": Sign(
        *(DATA, "one reward since", "Every completion has one reward from here on: these prompts teach no more."),
        *("13", "grpo", "Hard sums, fours"),
    ),
    "flat": Sign(*(DATA, "no rise", "The reward did not rise."), *("23", LAB, "Success rates × 0.01")),
    "pairs destroyed": Sign(
        *(OPTIMIZER, "policy destroyed", "The policy was destroyed here: a step too long for these pairs."),
        *("16", "dpo", "DPO, β 0.1"),
    ),
    "chosen less likely": Sign(
        *(OPTIMIZER, "chosen falls", "The chosen answers become less likely while the margin grows."),
        *("16", "dpo", "DPO, β 0.1"),
    ),
}


def steps_of(steps):
    first, last = (f"{step:,.0f}" if step == int(step) else f"{step:g}" for step in (steps[0], steps[-1]))
    return f"step {first}" if first == last else f"steps {first} to {last}"


def words_of(quantity):
    return ASKED_FOR[quantity].words


def kind(found):
    """“TRL's log_history, TRL's names: 240 rows, 240 batches, steps 1 to 240” but for what counts it."""
    names = f"{found.framework}'s names" if found.framework else "names of no framework that is known"
    return f"{found.format}, {names}{', of a DPO run' if found.of_preferences else ''}"


def counted(report):
    quantities = report.found
    rows = words.counted(len(quantities.steps), "row")
    batches = words.counted(len(report.run), "batch", "batches")
    return f"{rows}, {batches}, {steps_of(quantities.steps)}"


def summary(report):
    """The verdict in two or three sentences."""
    if report.first:
        first = report.first
        sign = SIGNS[first.name]
        head = f"Sign, first in time, at {steps_of([first.step])}: {sign.says}"
        return f"{head} {detail(first)}Lesson {sign.lesson}."
    if report.alarms:
        return f"Fact: {' '.join(fact.says for fact in report.alarms[:2])} {told(report)}No sign of a cause. {UNSAID}"
    return f"Nothing was found beyond the facts. {told(report)}{UNSAID}"


def detail(one):
    return f"{one.says[:1].upper()}{one.says[1:]}. " if one.says else ""


def told(report):
    return f"{report.told} " if report.told else ""


def later(report):
    """The signs after the first, as one sentence each."""
    for one in report.signs[1:]:
        yield f"{steps_of([one.step])}: {SIGNS[one.name].says} {detail(one)}Lesson {SIGNS[one.name].lesson}."


def event_line(event):
    last = "" if event.lasting else " (does not last)"
    return f"{event.kind}: {event.says}{last}"


def notes(report):
    """What the reader of the log left out, and the columns that nobody reads, all of them."""
    yield from report.found.notes
    if missing := list(absent(report.found)):
        yield f"Not read, and what logs it: {'; '.join(missing)}."
    scored = {each.name for each in report.scores.scorers} | set(report.scores.columns.values())
    if unread := [name for name in report.found.unknown if name not in scored]:
        yield f"Columns that were left unread, {len(unread):,}: {logs.listed(unread, len(unread))}."


def absent(found):
    """What the log does not hold, with what would log it, or a column whose name is near."""
    for quantity, row in QUANTITIES.items():
        names = [name for name, _ in row.columns.get(found.framework, ())]
        if quantity in found.curves or not names or found.of_preferences:
            continue
        near = list(dict.fromkeys(each for name in names for each in nearest(name, found.unknown)))
        where = (
            f"near its name: {logs.listed(near)}" if near else f"{found.framework}: {row.logged_by[found.framework]}"
        )
        yield f"{row.words} ({where})"


def lines(report):
    """The report as a terminal shows it."""
    yield f"{kind(report.found)}: {counted(report)}"
    for quantity, curve in report.found.curves.items():
        note = f" ({curve.note})" if curve.note else ""
        yield f"  {words_of(quantity):34} {' and '.join(curve.columns)}{note}"
    yield ""
    for fact in report.facts:
        yield f"{'!' if fact.alarm else ' '} {fact.says} [{steps_of(fact.rows)}]"
    if report.events:
        yield ""
    for event in report.events:
        yield f"{steps_of([event.step]):>12}  {event_line(event)}"
    yield ""
    yield summary(report)
    for each in later(report):
        yield f"Later, and may follow from it: {each}"
    for note in notes(report):
        yield f"Note: {note}"


def as_dict(report):
    """The same for a program: what --json prints."""
    return dict(
        kind=kind(report.found),
        rows=len(report.found.steps),
        batches=len(report.run),
        columns={quantity: list(curve.columns) for quantity, curve in report.found.curves.items()},
        facts=[dict(says=fact.says, alarm=fact.alarm, steps=list(fact.rows)) for fact in report.facts],
        events=[dict(step=e.step, kind=e.kind, says=e.says, lasting=e.lasting) for e in report.events],
        signs=[
            dict(
                name=one.name, step=one.step, says=SIGNS[one.name].says, detail=one.says, lesson=SIGNS[one.name].lesson
            )
            for one in report.signs
        ],
        verdict=summary(report),
        notes=list(notes(report)),
        status=report.status,
    )
