"""What may be said, the answer first: a sign is consistent with a cause and no proof of it, a fact is read off, the
rest cannot be told.

No run is ever called well. It is not a model.
"""

from dataclasses import dataclass

from rlpt import logs
from rlpt.doctor import changes
from rlpt.metric_names import ALL, LOGGED_BY, QUANTITIES, columns, nearest
from sim import words

INFRASTRUCTURE, DATA, REWARD, OPTIMIZER = range(4)
UNSAID = "a training log cannot show that nothing is wrong."
LAB = "trace_lab"


@dataclass(frozen=True)
class Sign:
    rank: int
    short: str  # at most three words
    head: str  # a sentence with its {step}
    says: str  # one or two more
    lesson: str
    widget: str  # a setting that looks the same
    preset: str
    turned: str = ""  # and what is turned beyond it, as a query


SIGNS = {
    "gap": Sign(
        *(INFRASTRUCTURE, "sampler and trainer", "Sampler and trainer disagree before any update."),
        "The sampler's log-probs are not the trainer's, so the two differ in weights, temperature or precision.",
        *("02", "rollout", "Two temperatures"),
    ),
    "stale": Sign(
        *(INFRASTRUCTURE, "stale samples", "From {step} on, the samples come from older weights."),
        "Sampler and trainer drift apart. That does not always hurt.",
        *("22c", "weight_sync", "Lag 8, no correction"),
    ),
    "no number": Sign(
        *(INFRASTRUCTURE, "no number", "From {step} on, the {quantity} is not a number."),
        "The run may have diverged here or before.",
        *("10", "compare", "GRPO at PPO's rate"),
    ),
    "rate": Sign(
        *(INFRASTRUCTURE, "nothing updated", "Nothing is trained."),
        "The learning rate is too small to change any weight.",
        *("05", "controller", "Forgot to sync"),
    ),
    "stopped": Sign(
        *(INFRASTRUCTURE, "rate is 0", "From {step} on, nothing is trained."),
        "",
        *("05", "controller", "Forgot to sync"),
    ),
    "lost gradient": Sign(
        *(INFRASTRUCTURE, "lost gradient", "Nothing reaches the weights."),
        "Rewards differ within groups, and yet the gradient is exactly 0 in every row.",
        *("05", "controller", "Forgot to sync"),
    ),
    "no advantage": Sign(
        *(INFRASTRUCTURE, "no advantage", "Every advantage is exactly 0."),
        "Scores differ, but nothing is learned from them. Perhaps each group has only one completion, or its "
        "completions are not recognized as a group.",
        *("11", "grpo", "Hard sums, fours"),
    ),
    "reference": Sign(
        *(INFRASTRUCTURE, "broken KL", "The KL is impossibly large before training."),
        "The reference, or the way the KL is computed, is broken.",
        *("03", "reward_and_reference", "Leaky reward model", "beta=20"),
    ),
    "truncation": Sign(
        *(DATA, "cut answers", "Completions are cut off, and none gets a reward."),
        "The cause may be the length limit or the verifier.",
        *("22b", "long_tail", "Cut off, scored wrong"),
    ),
    "verifier": Sign(
        *(DATA, "one reward", "Every completion gets the same reward."),
        "The verifier may be broken, or the task out of reach.",
        *("18", "what_rl_adds", "Nothing to amplify"),
    ),
    "groups": Sign(
        *(DATA, "uniform groups", "In most groups, all rewards are equal."),
        "Equal rewards teach nothing. The prompts are too hard or too easy.",
        *("13", "grpo", "Hard sums, fours"),
    ),
    "easy": Sign(
        *(DATA, "too easy", "In most groups, every completion is correct."),
        "Equal rewards teach nothing. The prompts are too easy.",
        *("13", "grpo", "Hard sums, fours"),
    ),
    "hacked": Sign(
        *(REWARD, "other target", "At {step}, the reward and another score part ways."),
        "A score that is not trained on does not rise with it. One of the two may be wrong.",
        *("03", "reward_and_reference", "Leaky, β of R1"),
    ),
    "traded": Sign(
        *(REWARD, "traded", "From {step} on, one reward function is traded for the others."),
        "It falls, and the reward as a whole does not.",
        *("03", "reward_and_reference", "Leaky, β of R1"),
    ),
    "memorized": Sign(
        *(REWARD, "memorized", "The policy memorizes its prompts."),
        "On prompts that it does not train on, the same reward hardly rises.",
        *("07", "controller", "Healthy", "held_out=on"),
    ),
    "length": Sign(
        *(REWARD, "length", "The reward may favor length."),
        "Completions grow while the reward rises. A score that is not trained on would show whether they also get "
        "better.",
        *("14", LAB, "0.15 per doubling"),
    ),
    "cut off": Sign(
        *(REWARD, "cut off", "From {step} on, many completions reach the length limit."),
        "What is learned now depends on the reward of completions that are cut off.",
        *("22b", "long_tail", "Cut off, scored wrong"),
    ),
    "step": Sign(
        *(OPTIMIZER, "policy destroyed", "From {step} on, the policy is destroyed."),
        "An update was probably too large.",
        *("10", "trainer", "Learning rate 0.1"),
    ),
    "spell": Sign(
        *(OPTIMIZER, "lost, regained", "At {step}, the policy collapses, but it recovers."),
        "An update was probably too large.",
        *("10", "trainer", "Learning rate 0.1"),
    ),
    "endless": Sign(
        *(OPTIMIZER, "never ends", "From {step} on, completions no longer end."),
        "They run into the length limit, although the reward does not ask for length.",
        *("14", LAB, "0.15 per doubling"),
    ),
    "declined": Sign(
        *(OPTIMIZER, "slow decline", "The reward falls slowly."),
        "Each update may make the policy a little worse.",
        *("10", "trainer", "Learning rate 0.1"),
    ),
    "fell": Sign(
        *(OPTIMIZER, "reward lost", "From {step} on, the reward falls and does not recover."),
        "Nothing else in the log changed.",
        *("10", "trainer", "Learning rate 0.1"),
    ),
    "jump": Sign(
        *(OPTIMIZER, "two steps", "The first two steps made most of the change."),
        "An update was probably too large.",
        *("10", LAB, "Rate 60, 4 passes, wide clip"),
    ),
    "far": Sign(
        *(OPTIMIZER, "far away", "From {step} on, the policy is far from its reference."),
        "Its reward is no higher than at the beginning.",
        *("10", LAB, "Rate 60, 4 passes, wide clip"),
    ),
    "penalty": Sign(
        *(REWARD, "KL outweighs", "The KL term outweighs the reward."),
        "It holds the policy in place, or pulls it back.",
        *("03", "reward_and_reference", "Leaky reward model", "beta=20"),
    ),
    "narrower": Sign(
        *(OPTIMIZER, "narrower", "From {step} on, the policy is less diverse, but no better."),
        "",
        *("12", LAB, "Rate 1.5, 1 pass, no bonus"),
    ),
    "drift": Sign(
        *(OPTIMIZER, "drift", "The policy changes, but its reward does not."),
        "What changes is not what the reward measures.",
        *("09", "what_rl_adds", "Every reward + 10, no baseline"),
    ),
    "saturated": Sign(
        *(DATA, "one reward since", "From {step} on, every completion gets the same reward."),
        "These prompts teach nothing more.",
        *("13", "grpo", "Hard sums, fours"),
    ),
    "flat": Sign(*(DATA, "no rise", "The reward did not rise."), "", *("23", LAB, "Success rates × 0.01")),
    "pairs destroyed": Sign(
        *(OPTIMIZER, "policy destroyed", "From {step} on, the policy is destroyed."),
        "An update was probably too large for these pairs.",
        *("16", "dpo", "DPO, β 0.1"),
    ),
    "pairs undecided": Sign(
        *(DATA, "coin flip", "Half of the pairs are ranked correctly, as by a coin flip."),
        "This holds from beginning to end.",
        *("16", "dpo", "DPO, β 0.1"),
    ),
    "chosen less likely": Sign(
        *(OPTIMIZER, "chosen falls", "From {step} on, the chosen answers become less likely."),
        "The margin grows all the same.",
        *("16", "dpo", "DPO, β 0.1"),
    ),
}


def steps_of(steps, unit="step"):
    first, last = (f"{step:,.0f}" if step == int(step) else f"{step:g}" for step in (steps[0], steps[-1]))
    return f"{unit} {first}" if first == last else f"{unit}s {first} to {last}"


def words_of(quantity):
    return ALL[quantity].words


def kind(found):
    """“Read TRL's log_history with TRL's column names: 240 rows, 240 batches, steps 1 to 240” without its counts."""
    names = f"{found.framework}'s column names" if found.framework else "column names of no known framework"
    return f"Read {found.format} with {names}{', of a DPO run' if found.of_preferences else ''}"


def counted(report):
    quantities = report.found
    rows = words.counted(len(quantities.steps), "row")
    batches = words.counted(len(report.run), "batch", "batches")
    return f"{rows}, {batches}, {steps_of(quantities.steps, quantities.unit)}"


# ── the answer ──
def headline(report):
    """The verdict in one sentence."""
    if report.first:
        return headed(report, report.first)
    if report.alarms:
        return report.alarms[0].says
    return "Nothing was found in the log." if of_completions(report) else "Nothing was found."


def headed(report, one):
    lost = next((each for each in report.signs if each.name == "step"), None)
    if one.name == "spell" and lost:
        first, last = (steps_of([each.step], report.found.unit) for each in (one, lost))
        return f"At {first}, the policy collapses and recovers. From {last} on, it is destroyed."
    step, head = steps_of([one.step], report.found.unit), SIGNS[one.name].head
    return head.replace("{step}", step).replace("{quantity}", words_of(one.quantity))


def lead(report):
    """What goes with it."""
    if report.first:
        return f"{SIGNS[report.first.name].says} {detail(report.first)}".strip()
    if report.alarms:
        more = "".join(f"{fact.says} " for fact in report.alarms[1:2])
        return f"{more}{told(report)}The log shows no cause."
    if found := of_completions(report):
        return f"{told(report)}The completions show more: {'; '.join(found)}. See the events."
    return f"{told(report)}This is no proof: {UNSAID}"


def of_completions(report):
    """The names of what was found in the completions that were read beside the log, in time."""
    return [event.kind for event in report.events if not event.quantity]


def summary(report):
    return f"{headline(report)} {lead(report)}"


def detail(one):
    return sentence(one.says) if one.says else ""


def sentence(text):
    """A clause with its capital and its stop."""
    return f"{words.capital(text)}{'' if text.endswith('?') else '.'}"


def told(report):
    return f"{report.told} " if report.told else ""


def advised(report):
    """The Advice for the first sign, or None without one."""
    return changes.advice(report, report.first) if report.first else None


def change_line(change):
    """“learning_rate=1e-05: a tenth of …”, or what is changed alone."""
    return f"{change.option}: {change.says}." if change.option else sentence(change.says)


def expected(advice):
    return f"If the diagnosis is right, expect this: {advice.expect[:1].lower()}{advice.expect[1:]}"


def later(report):
    """The signs after the first, as one sentence each."""
    for one in report.signs[1:]:
        sign = SIGNS[one.name]
        says = " ".join(filter(None, (sign.says, detail(one))))
        yield f"{headed(report, one)} {says} See lesson {sign.lesson}."


def event_line(event):
    last = "" if event.lasting else " (does not last)"
    return f"{event.kind}: {event.says}{last}"


def notes(report):
    """What nobody reads, all of them."""
    yield from [*report.found.notes, *report.beside[1:]]
    if missing := list(absent(report.found)):
        yield f"This log does not have: {'; '.join(missing)}."
    scored = {each.name for each in report.scores.scorers} | set(report.scores.columns.values())
    if unread := [name for name in report.found.unknown if name not in scored]:
        unused = words.counted(len(unread), "column was", "columns were")
        yield f"{unused} not used: {logs.listed(unread, len(unread))}."


def absent(found):
    """What the log does not hold, with what would log it, or a column whose name is near."""
    for quantity, row in QUANTITIES.items():
        names = [name for name, _ in columns(found.framework, quantity)] if found.framework else []
        if quantity in found.curves or not names or found.of_preferences:
            continue
        near = list(dict.fromkeys(each for name in names for each in nearest(name, found.unknown)))
        where = (
            f"a column with a similar name: {logs.listed(near)}"
            if near
            else f"{found.framework}: {LOGGED_BY[found.framework][quantity]}"
        )
        yield f"{row.words} ({where})"


def lines(report):
    """The report as a terminal shows it: the answer, what to change, events, facts, and what was read."""
    unit = report.found.unit
    yield from (headline(report), lead(report))
    if advice := advised(report):
        yield ""
        yield "Change one thing at a time:" if len(advice.changes) > 1 else "Change:"
        for change in advice.changes:
            yield f"  {change_line(change)}"
        if advice.excluded:
            yield advice.excluded
        yield expected(advice)
        yield f"See lesson {SIGNS[report.first.name].lesson}."
    if len(report.signs) > 1:
        yield ""
        yield "Other signs, which may follow from the first:"
        for each in later(report):
            yield f"  {each}"
    if report.events:
        yield ""
        yield "What happened:"
        for event in report.events:
            there = "" if event.quantity else " (read the rollouts)"
            yield f"{steps_of([event.step], unit):>12}  {event_line(event)}{there}"
    yield ""
    yield "Read off the log:"
    for fact in report.facts:
        yield f"{'!' if fact.alarm else ' '} {fact.says} [{steps_of(fact.rows, unit)}]"
    yield ""
    yield f"{kind(report.found)}: {counted(report)}"
    for quantity, curve in report.found.curves.items():
        note = f" ({curve.note})" if curve.note else ""
        yield f"  {words_of(quantity):38} {' and '.join(curve.columns)}{note}"
    yield from report.beside[:1]
    for note in notes(report):
        yield f"Note: {note}"


def as_dict(report):
    """The same for a program: what --json prints."""
    advice = advised(report)
    return dict(
        headline=headline(report),
        lead=lead(report),
        changes=[dict(option=each.option, says=each.says) for each in advice.changes] if advice else [],
        expect=advice.expect if advice else "",
        kind=kind(report.found),
        unit=report.found.unit,
        rows=len(report.found.steps),
        batches=len(report.run),
        columns={quantity: list(curve.columns) for quantity, curve in report.found.curves.items()},
        facts=[dict(says=fact.says, alarm=fact.alarm, steps=list(fact.rows)) for fact in report.facts],
        events=[
            dict(step=e.step, kind=e.kind, says=e.says, lasting=e.lasting, of="log" if e.quantity else "completions")
            for e in report.events
        ],
        signs=[
            dict(
                name=one.name,
                step=one.step,
                head=headed(report, one),
                says=SIGNS[one.name].says,
                detail=one.says,
                lesson=SIGNS[one.name].lesson,
            )
            for one in report.signs
        ],
        notes=[*report.beside[:1], *notes(report)],
        status=report.status,
    )
