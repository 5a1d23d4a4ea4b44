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
        *(
            INFRASTRUCTURE,
            "other samples",
            "The samples come from older weights than those that are trained, which does not have to hurt.",
        ),
        *("22c", "weight_sync", "Lag 8, no correction"),
    ),
    "no number": Sign(
        *(
            INFRASTRUCTURE,
            "no number",
            "From here on the log has no numbers. The run may have diverged here or before.",
        ),
        *("10", "compare", "GRPO at PPO's rate"),
    ),
    "rate": Sign(
        *(
            INFRASTRUCTURE,
            "nothing updated",
            "Nothing is trained, because the learning rate is too small to change any weight.",
        ),
        *("05", "controller", "Forgot to sync"),
    ),
    "truncation": Sign(
        *(
            DATA,
            "cut answers",
            "No completion earns a reward, and many are cut off. The length limit may be the cause, or the verifier.",
        ),
        *("22b", "long_tail", "Cut off, scored wrong"),
    ),
    "verifier": Sign(
        *(
            DATA,
            "one reward",
            "Every completion gets the same reward. The verifier may be broken, or the task out of reach.",
        ),
        *("18", "what_rl_adds", "Nothing to amplify"),
    ),
    "groups": Sign(
        *(
            DATA,
            "uniform groups",
            "In most groups all rewards are equal, so the prompts are too hard or too easy to learn from.",
        ),
        *("13", "grpo", "Hard sums, fours"),
    ),
    "hacked": Sign(
        *(
            REWARD,
            "other target",
            "The reward rises, but a score that was not trained on does not. The reward pays for something that this "
            "score does not count; either of the two may be wrong.",
        ),
        *("03", "reward_and_reference", "Leaky, β of R1"),
    ),
    "memorized": Sign(
        *(
            REWARD,
            "memorized",
            "The run seems to memorize its training prompts: the same reward hardly rises on other prompts.",
        ),
        *("07", "controller", "Healthy", "held_out=on"),
    ),
    "length": Sign(
        *(REWARD, "length", "The reward may pay for length. A score that is not trained on would tell."),
        *("14", LAB, "0.15 per doubling"),
    ),
    "cut off": Sign(
        *(
            REWARD,
            "cut off",
            "Many completions reach the length limit. The reward of a cut-off completion now decides what is learned.",
        ),
        *("22b", "long_tail", "Cut off, scored wrong"),
    ),
    "step": Sign(
        *(
            OPTIMIZER,
            "policy destroyed",
            "The policy was destroyed here by a step that was too long. Look at the learning rate, the number of "
            "updates per batch, the width of the clip, and the number of completions.",
        ),
        *("10", "trainer", "Learning rate 0.1"),
    ),
    "fell": Sign(
        *(OPTIMIZER, "reward lost", "The reward fell here and did not recover. Nothing else in the log moved."),
        *("10", "trainer", "Learning rate 0.1"),
    ),
    "jump": Sign(
        *(OPTIMIZER, "two updates", "The policy went most of its way in the first two updates."),
        *("10", LAB, "Rate 60, 4 passes, wide clip"),
    ),
    "far": Sign(
        *(OPTIMIZER, "far away", "The policy is far from its reference, and its reward is no higher."),
        *("10", LAB, "Rate 60, 4 passes, wide clip"),
    ),
    "penalty": Sign(
        *(REWARD, "KL outweighs", "The KL term outweighs the reward, so the policy is held in place or pulled back."),
        *("03", "reward_and_reference", "Leaky reward model", "beta=20"),
    ),
    "narrower": Sign(
        *(OPTIMIZER, "narrower", "The policy became less diverse, and its reward is no higher."),
        *("12", LAB, "Rate 1.5, 1 pass, no bonus"),
    ),
    "drift": Sign(
        *(OPTIMIZER, "drift", "The policy moves, but the reward does not."),
        *("09", "what_rl_adds", "Every reward + 10, no baseline"),
    ),
    "saturated": Sign(
        *(
            DATA,
            "one reward since",
            "From here on every completion gets the same reward, so these prompts teach nothing more.",
        ),
        *("13", "grpo", "Hard sums, fours"),
    ),
    "flat": Sign(*(DATA, "no rise", "The reward did not rise."), *("23", LAB, "Success rates × 0.01")),
    "pairs destroyed": Sign(
        *(OPTIMIZER, "policy destroyed", "The policy was destroyed here by a step that was too long for these pairs."),
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
    """“Read TRL's log_history with TRL's column names: 240 rows, 240 batches, steps 1 to 240” without its counts."""
    names = f"{found.framework}'s column names" if found.framework else "column names of no known framework"
    return f"Read {found.format} with {names}{', of a DPO run' if found.of_preferences else ''}"


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
        head = f"First sign of trouble, at {steps_of([first.step])}: {sign.says[:1].lower()}{sign.says[1:]}"
        return f"{head} {detail(first)}See lesson {sign.lesson}."
    if report.alarms:
        return f"{' '.join(fact.says for fact in report.alarms[:2])} {told(report)}The log shows no cause. {UNSAID}"
    return f"No sign of trouble. {told(report)}That is no proof that the run is sound. {UNSAID}"


def detail(one):
    return f"{one.says[:1].upper()}{one.says[1:]}. " if one.says else ""


def told(report):
    return f"{report.told} " if report.told else ""


def later(report):
    """The signs after the first, as one sentence each."""
    for one in report.signs[1:]:
        yield f"{steps_of([one.step])}: {SIGNS[one.name].says} {detail(one)}See lesson {SIGNS[one.name].lesson}."


def event_line(event):
    last = "" if event.lasting else " (does not last)"
    return f"{event.kind}: {event.says}{last}"


def notes(report):
    """What the reader of the log left out, and the columns that nobody reads, all of them."""
    yield from report.found.notes
    if missing := list(absent(report.found)):
        yield f"This log does not have: {'; '.join(missing)}."
    scored = {each.name for each in report.scores.scorers} | set(report.scores.columns.values())
    if unread := [name for name in report.found.unknown if name not in scored]:
        unused = words.counted(len(unread), "column was", "columns were")
        yield f"{unused} not used: {logs.listed(unread, len(unread))}."


def absent(found):
    """What the log does not hold, with what would log it, or a column whose name is near."""
    for quantity, row in QUANTITIES.items():
        names = [name for name, _ in row.columns.get(found.framework, ())]
        if quantity in found.curves or not names or found.of_preferences:
            continue
        near = list(dict.fromkeys(each for name in names for each in nearest(name, found.unknown)))
        where = (
            f"a column with a similar name: {logs.listed(near)}"
            if near
            else f"{found.framework}: {row.logged_by[found.framework]}"
        )
        yield f"{row.words} ({where})"


def lines(report):
    """The report as a terminal shows it."""
    yield f"{kind(report.found)}: {counted(report)}"
    for quantity, curve in report.found.curves.items():
        note = f" ({curve.note})" if curve.note else ""
        yield f"  {words_of(quantity):38} {' and '.join(curve.columns)}{note}"
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
        yield f"Later, perhaps as a consequence, at {each}"
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
