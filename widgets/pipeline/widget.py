"""The stages of post-training one after the other: what each leaves, and whether the end of the path is any good."""

from dataclasses import dataclass, fields, replace

import numpy as np

from sim.estimators import compounding
from sim.pipeline import path, report, stages
from sim.worlds import tinylm
from sim.worlds.tasks import HELD, TRAIN, Chain, running_totals
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing.marks import bars, dots, heat, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "A tiny model on its way from raw text to correct answers, stage by stage"
COST = "100 held-out prompts × 64 completions after each stage"

LOW = 0.2  # right at one try, twice what a guess gets: a path that ends below it has bought nothing
BEHIND = 0.45  # the textbook path ends near .65
PROMPTS, N = HELD[:100], 64
PATHS = {
    "SFT CoT DPO RL": ("sft", "cot", "dpo", "rl"),
    "SFT CoT RFT RL": ("sft", "cot", "rft", "rl"),
    "SFT CoT RL": ("sft", "cot", "rl"),
    "CoT RL": ("cot", "rl"),
    "CoT SFT RL": ("cot", "sft", "rl"),
    "SFT RL": ("sft", "rl"),
    "DPO of borrowed pairs RL": ("borrowed", "rl"),
    "RL": ("rl",),
}
SLIPPED = (0.0, 0.7, 0.2, 0.1)  # every thought slips
THOUGHTS = {  # demonstrations, updates, what they are
    "2000 × 400": dict(),
    "200 × 400": dict(demos=200),
    "200 × 6400": dict(demos=200, cot_steps=6_400),
    "2000 × 400, all with a slip": dict(mix=SLIPPED),
}
SHOWN = ("Pass@1", "Pass@64", "Completions that think first", "Slip rate per step", "Groups without a gradient")
NAMES = dict(base="base", sft="SFT", cot="CoT", dpo="DPO", borrowed="DPO", rft="RFT", rl="RL")


@dataclass(frozen=True)
class Knobs:
    order: str = choice("Path", "SFT CoT DPO RL", list(PATHS))
    stages: int = choice("Number of stages", 4, [1, 2, 3, 4])
    rare: float = ladder("Fraction of worked answers", 0.0, list(path.RARE))
    thoughts: str = choice("Demonstrations × updates", "2000 × 400", list(THOUGHTS))
    rl_steps: int = ladder("RL updates", 100, [25, 50, 100, 200, 300])
    L_cache: int = ladder("Last tokens charged", 0, [0, 2, 3, 4, 5])
    dpo_steps: int = ladder("DPO updates", 100, [25, 100, 400, 800])
    beta: float = ladder("KL coefficient of DPO", 0.3, [0.1, 0.3, 1.0], symbol="β")
    prompts: int = ladder("Prompts of RL", len(TRAIN), [8, 32, len(TRAIN)])
    seed: int = slider("Seed of the stages", 0, low=0, high=99, step=1)


LEAD = ("rare", "L_cache")
PRESETS = {
    "The textbook": Knobs(),
    "RL from nothing": Knobs(order="RL"),
    "Answers after thoughts": Knobs(order="CoT SFT RL"),
    "Borrowed pairs": Knobs(order="DPO of borrowed pairs RL"),
    "200 thoughts, 6,400 updates": Knobs(thoughts="200 × 6400"),
    "Penalty on length": Knobs(L_cache=4),
}
GUESS = Guess(
    "The base has read 1 % worked answers. How high does RL alone end, compared with four stages without them?",
    ("at 0", "about halfway", "about as high"),
    Knobs(order="RL", rare=0.01),
    2,
    lambda k, r: (
        f"Pass@1 goes from {first(r.reports[0]):.3f} to {first(r.reports[-1]):.2f}. RL needs only some correct "
        "completions."
    ),
)


@dataclass(frozen=True)
class Result:
    names: tuple  # of all stages that are to run, the base included
    reports: tuple  # of those that have ended and were measured
    stage: stages.Stage | None  # the one that is running, or that ran last
    done: int  # updates that ran here
    updates: int  # of those that run here
    accuracy: tuple  # of the completions of each RL update, and the share of its groups that are live
    live: tuple
    fitted: tuple  # (update, rows) of the stage that is running, or that ran last, unless it is RL

    @property
    def ended(self):
        return len(self.reports) == len(self.names)


def whole(k):
    """Whether the path runs to its end."""
    return k.stages >= len(PATHS[k.order])


def idle(k):
    whole_path, run = PATHS[k.order], PATHS[k.order][: k.stages]
    of = dict(thoughts=("cot",), **dict.fromkeys(("dpo_steps", "beta"), ("dpo", "borrowed")))
    of |= dict.fromkeys(("rl_steps", "L_cache", "prompts"), ("rl",))
    return {
        knob: f"{NAMES[stages[0]]} {'is not run yet' if {*stages} & {*whole_path} else 'is not on this path'}"
        for knob, stages in of.items()
        if not {*stages} & {*run}
    }


def settings(k):
    return path.Settings(
        rare=k.rare,
        dpo_steps=k.dpo_steps,
        beta=k.beta,
        rl_steps=k.rl_steps,
        rl_prompts=k.prompts,
        L_cache=k.L_cache or None,
        **THOUGHTS[k.thoughts],
    )


def shipped(k, stages_so_far):
    """The shipped policy that these stages of the path lead to, by name, or None; the base is one for all seeds."""
    if k.seed and len(stages_so_far) > 1:
        return None
    return path.known(stages_so_far, settings(k))


def updates_of(name, k):
    its = settings(k)
    return dict(sft=200, cot=its.cot_steps, dpo=its.dpo_steps, borrowed=its.dpo_steps, rft=100, rl=its.rl_steps)[name]


def stages_here(k):
    """(all stages, the base first; the places of those that run here: without a shipped policy, or the last)."""
    names = ("base", *PATHS[k.order][: k.stages])
    return names, [at for at in range(1, len(names)) if at == len(names) - 1 or not shipped(k, names[: at + 1])]


def seconds(k):
    """Measured: 0.18 a report, 0.022 an update of RL, which samples, 0.004 any other, and the start."""
    names, run_here = stages_here(k)
    training = [updates_of(names[at], k) * (0.022 if names[at] == "rl" else 0.004) for at in run_here]
    return 0.3 + 0.18 * len(names) + sum(training)


def run(k):
    names, run_here = stages_here(k)
    updates = sum(updates_of(names[at], k) for at in run_here)
    for name in path.SHIPPED:  # before the first frame: the page's snapshot has what that has read, and no files
        path.checkpoint(name)
    r = Result(names, (), None, 0, updates, (), (), ())
    yield r
    before = None
    for at, name in enumerate(names):
        if at in run_here:
            done, r = r.done, replace(r, fitted=())
            for stage in started(name, before, k):
                r = replace(r, stage=stage, done=done + stage.step)
                if name == "rl":
                    r = replace(r, accuracy=(*r.accuracy, stage.rows["accuracy"]), live=stage.rows["live"])
                else:
                    r = replace(r, fitted=(*r.fitted, (stage.step, stage.rows)))
                yield r
            policy = stage.policy
        else:
            policy = path.checkpoint(shipped(k, names[: at + 1]))
        for outcome in report.measuring(policy, before, PROMPTS, N):
            if outcome is None:
                yield r
        r, before = replace(r, reports=(*r.reports, outcome)), policy
        yield r


def started(name, policy, k):
    if name == "borrowed":
        return path.borrowed(policy, k.seed, settings(k))
    return path.staged(name, policy, k.seed, settings(k))


def first(outcome):
    return float(outcome.pass1)


def progress(k, r):
    return ["update", r.done, r.updates]


def ticks(r):
    """Stages by their place, so that a path may have one twice."""
    return dict(tickvals=list(range(5)), ticktext=[NAMES[name] for name in r.names] + [""] * (5 - len(r.names)))


# Panels


def figure(k, r):
    return [ladder_of(k, r), kinds(r), completions(r), attempts(r), on_the_way(k, r), paid(r)]


def ladder_of(k, r):
    at = list(range(len(r.reports)))
    one, many = [first(outcome) for outcome in r.reports], [outcome.pass_at[64][0] for outcome in r.reports]
    return panel(
        "Correct answers after each stage",
        f"fraction; {len(PROMPTS)} held-out prompts, {N} completions each",
        line(at, one, "pass@1", 1),
        dots(at, one, "pass@1", 1),
        line(at, many, "pass@64", 2),
        dots(at, many, "pass@64", 2),
        *([label(at[-1] + 0.1, one[-1], f"{one[-1]:.2f}", 1)] if at else []),
        line(at, [outcome.skill for outcome in r.reports], "next two totals correct", 3),
        label(0, 1.04, "squares: pass@64", 2),
        *([label(0.06, r.reports[0].skill + 0.06, "next totals", 3)] if at else []),
        *([threshold(LOW, "twice a guess", 0.0, outside=True)] if whole(k) else []),
        x="stage",
        x_range=[-0.3, 4.6],
        y_range=[0, 1.16],
        ticks=ticks(r),
        tab="Stages",
        front=True,
    )


def kinds(r):
    shares = np.array([100 * outcome.modes for outcome in r.reports]).reshape(-1, len(report.MODES))
    place = [f"{at} {NAMES[name]}" for at, name in enumerate(r.names)]
    return panel(
        "What the completions are",
        "%; [followed] thought; [against] direct; hatched: wrong",
        *(
            bars(place[: len(shares)], shares[:, i], name, series, role)
            for i, (name, series, role) in enumerate(
                zip(report.MODES, (1, 1, 2, 2, 8), ("", "waste", "", "waste", "free"))
            )
        ),
        y_range=[0, 100],
        tab="Stages",
        stacked=True,
    )


VERDICTS = ("correct", "wrong", "correct", "wrong", "no answer")  # of report.MODES
PROMPT = tinylm.decode(Chain().prompt_ids(PROMPTS[:1])[0].tolist())
ASKED = running_totals(PROMPTS[:1])[0, -1]
ROWS = 3


def completions(r):
    """The first prompt's completions before the last stage that ended and, below them, after it."""
    height, T = 2 * ROWS + 1, Chain.T
    tones, words = [[None] * T for _ in range(height)], []
    for top, (at, outcome) in zip((height, ROWS), [*enumerate(r.reports)][-2:]):
        for y, (tokens, mode) in zip(range(top, 0, -1), outcome.written[:ROWS]):
            tones[y - 1][: len(tokens)] = [0.55 if VERDICTS[mode] == "correct" else 0.15] * len(tokens)
            words += [label(t, y, tinylm.word(n), 0, "center") for t, n in enumerate(tokens, 1)]
            words.append(label(T + 0.7, y, f"{NAMES[r.names[at]]}: {VERDICTS[mode]}"))
    for word in words:
        word["annotations"][0]["yanchor"] = "middle"
    return panel(
        f"Completions of {' '.join(PROMPT)}",
        f"one row each, one cell per token; the last digit of the sum is {ASKED}",
        heat(np.arange(1, T + 1), np.arange(1, height + 1), tones, "", 0.0, 1.0),
        *words,
        x_range=(0.4, T + 4.2),
        y_range=(0.4, height + 0.6),
        bare=True,
        tab="Completions",
    )


def attempts(r):
    curves = [[outcome.pass_at[n][0] for n in report.KS] for outcome in r.reports]
    return panel(
        "Prompts solved in k tries (pass@k)",
        "fraction of the prompts",
        *(
            mark
            for i, (curve, name) in enumerate(zip(curves, r.names))
            for mark in (
                line(list(report.KS), curve, f"{i} {NAMES[name]}", i + 1),
                label(1.05, curve[0] - 0.04, NAMES[name], i + 1),  # at 64 tries most of them end alike
            )
        ),
        x="tries k, logarithmic",
        x_range=[1, 70],
        y_range=[0, 1.1],
        log="x",
        tab="Completions",
    )


def on_the_way(k, r):
    """The small figure of the stage that is running, or that ran last."""
    if r.stage and r.stage.name == "dpo":
        return preferred(r)
    if r.stage and r.stage.name != "rl":
        return imitated(r)
    step = list(range(1, len(r.accuracy) + 1))
    return panel(
        "RL, update by update",
        "fraction; per update 32 prompts, 8 completions each",
        line(step, r.accuracy, "correct completions", 1),
        line(step, r.live[: len(step)], "live groups", 2),
        label(300, 1.06, "live groups", 2, "right"),
        label(150, 1.06, "correct completions", 1, "right"),
        x="RL update",
        x_range=[0, 300],
        y_range=[0, 1.16],
        tab="On the way",
    )


def imitated(r):
    loss = [rows["loss"] for _, rows in r.fitted]
    return panel(
        f"{NAMES[r.stage.name]}, update by update",
        "loss on the demonstrations, nats per token",
        line([step for step, _ in r.fitted], loss, "loss", 1),
        x=f"{NAMES[r.stage.name]} update",
        x_range=[0, r.stage.steps],
        y_range=[0, 1.1 * max(loss, default=1.0)],
        tab="On the way",
    )


def preferred(r):
    step = [step for step, _ in r.fitted]
    chosen, rejected = ([rows[side] for _, rows in r.fitted] for side in ("chosen", "rejected"))
    low, high = min([-1.0, *rejected, *chosen]), max([1.0, *chosen, *rejected])
    return panel(
        "DPO, update by update",
        "log-probability gained since the stage began, nats",
        line(step, chosen, "chosen", 1),
        line(step, rejected, "rejected", 2),
        label(r.stage.steps, chosen[-1], "chosen", 1, "right"),
        label(r.stage.steps, rejected[-1], "rejected", 2, "right"),
        x="DPO update",
        x_range=[0, r.stage.steps],
        y_range=[1.15 * low, 1.15 * high],
        tab="On the way",
    )


def paid(r):
    """What each stage has moved: nats a completion from the policy before it."""
    moved = [max(float(outcome.kl), 0.0) for outcome in r.reports[1:]]
    place = [f"{at} {NAMES[name]}" for at, name in enumerate(r.names)][1 : len(moved) + 1]
    return panel(
        "How far each stage moves the policy",
        "KL from the stage before, nats per completion",
        bars(place, moved, "KL", 4, text=[f"{nats:.1f}" for nats in moved]),
        y_range=[0, 50],
        tab="On the way",
    )


# Numbers


def readouts(k, r):
    source, outcome = report.report, r.reports[-1] if r.reports else None
    if outcome is None:
        return [Readout(name, "–", "", path.checkpoint) for name in SHOWN]
    thinks = float(outcome.thinks)
    tells = thinks > 0.01 and outcome.accuracy_thinking > 0.15  # at a guess's score any rate of slips ends alike
    slips = float(compounding.slip_rate(outcome.accuracy_thinking if tells else np.nan, 3))
    return [
        Readout("Pass@1", first(outcome), "", source, "violated" if broken(k, r) else ""),
        Readout("Pass@64", outcome.pass_at[64][0], "", source),
        Readout("Completions that think first", 100 * thinks, "%", source),
        Readout("Slip rate per step", slips if np.isfinite(slips) else "–", "", compounding.slip_rate),
        Readout("Groups without a gradient", 100 * (1 - outcome.live8), "%", source),
    ]


def watched(k, r):
    if not whole(k):
        return Readout("Pass@1 at the end", "the path is not finished", "", report.report)
    right = first(r.reports[-1]) if r.reports else 0.0
    return Gauge("Pass@1 at the end", right, LOW, below=True, expression=f"pass_at[1] < {LOW}")


# What broke it

NEVER, BORROWED, LONG, TAXED = (
    "a start that is never correct",
    "pairs that it would never write",
    "the same few thoughts too often",
    "thinking that costs more than guessing",
)
UNTHOUGHT, SOME, SHORT = "no thought to reinforce", "too few prompts, learned by heart", "too little training"
MIXED = "a combination of settings"
SILENT = "a penalty that replaced the reward"


UNDONE = {  # the knobs whose defaults undo a cause
    BORROWED: ("order",),
    LONG: ("thoughts",),
    TAXED: ("L_cache",),
    UNTHOUGHT: ("order",),
    SOME: ("prompts",),
    SILENT: ("L_cache",),
    SHORT: ("rl_steps", "thoughts", "dpo_steps", "beta", "order"),
}


def turned(k):
    """The knobs that act and that do not stand where the textbook has them."""
    still = {"stages", "seed", *idle(k)}
    return [f.name for f in fields(k) if f.name not in still and getattr(k, f.name) != f.default]


def cause(k, r):
    """What the run shows, where that alone is not as in the textbook, which ends well; otherwise MIXED.

    That no completion was right is no matter of other knobs: without a gradient nothing moves.
    """
    shown = sign(k, r)
    return shown if shown == NEVER or (len(turned(k)) == 1 and turned(k)[0] in UNDONE[shown]) else MIXED


def sign(k, r):
    """The cause that the run itself shows."""
    names, before, after = PATHS[k.order], *r.reports[-2:]
    if k.L_cache and after.answers < 0.5:
        return SILENT  # also where nothing is right: completions that differ in length alone have a gradient
    if not any(r.live):
        return BORROWED if "borrowed" in names else NEVER
    if k.L_cache > 2 and before.thinks > 0.1 and after.thinks < 0.5 * before.thinks:
        return TAXED
    if "sft" in names and ("cot" not in names or names.index("sft") > names.index("cot")):
        return UNTHOUGHT
    if "cot" in names and k.thoughts == "200 × 6400":
        return LONG
    return SOME if k.prompts < len(TRAIN) else SHORT


def seen_at(k, r, cause):
    return At("Correct answers after each stage", None, None, "pass@1 is {y:.2f}", "pass@1")


def broken(k, r):
    if not (r.ended and whole(k)) or first(r.reports[-1]) >= LOW:
        return None
    broken_by, got, start = cause(k, r), first(r.reports[-1]), r.reports[-2]
    completions, ends = f"{256 * k.rl_steps:,}", f"Pass@1 ends at {got:.2f}"
    why = {
        NEVER: f"{completions} completions taught nothing, because none was correct, so no group had a gradient.",
        BORROWED: f"{ends}. The loss on the pairs fell, but the model still never writes the chosen completions.",
        LONG: (
            f"{ends}. After 6,400 updates on 200 thoughts, fewer prompts are solved in any of 64 tries, and RL has "
            "only those."
        ),
        SILENT: (
            f"{ends}, and only {100 * r.reports[-1].answers:.0f} % of the completions still answer. The penalty on "
            "length taught more than the checker did."
        ),
        TAXED: (
            f"{ends}. {100 * start.thinks:.0f} % of completions thought before RL and "
            f"{100 * r.reports[-1].thinks:.0f} % do now, because a guess earns more under this penalty."
        ),
        UNTHOUGHT: f"{ends}; a guess reaches 0.10. No completion thinks first, so RL can only choose among guesses.",
        SOME: f"{ends} on held-out prompts. RL saw only {k.prompts} prompts and learned them by heart.",
        SHORT: f"{ends}, at most twice the score of a guess. This path has too little training.",
        MIXED: f"{ends}, at most twice the score of a guess. More than one thing differs from the textbook path.",
    }
    return Break(Said(why[broken_by], measured(r) | claims(k, r, broken_by)), fix(k, broken_by), broken_by)


def measured(r):
    """What is asserted of the last stage that ended: right ones are those with a thought and those without."""
    outcome = r.reports[-1]
    return {"so many are right": lambda: abs(outcome.modes[0] + outcome.modes[2] - first(outcome)) < 0.005}


def claims(k, r, cause):
    """What is asserted of a cause: undone it ends well, and the run shows it."""
    before, after = r.reports[-2:]
    everything = [f.name for f in fields(k) if f.name not in ("stages", "seed")]  # what did not act may, once undone
    textbook = {name: getattr(Knobs(), name) for name in (everything if cause in (NEVER, MIXED) else UNDONE[cause])}
    undone = {"undone, it ends well": lambda: first(end(run, replace(k, stages=4, **textbook)).reports[-1]) >= LOW}
    shows = {
        NEVER: lambda: not any(r.live) and max(r.accuracy) == 0,
        BORROWED: lambda: r.names[1] == "borrowed" and not any(r.live),
        LONG: lambda: before.pass_at[64][0] < end(run, Knobs(seed=k.seed)).reports[-2].pass_at[64][0],
        SILENT: lambda: k.L_cache > 0 and after.answers < 0.5,
        TAXED: lambda: k.L_cache > 0 and after.thinks < 0.5 * before.thinks,
        UNTHOUGHT: lambda: after.thinks < 0.05,
        SOME: lambda: r.accuracy[-1] > first(after) + 0.05,
        SHORT: lambda: any(r.live),
        MIXED: lambda: first(after) < LOW,
    }
    return undone | {"the run shows it": shows[cause]}


def fix(k, cause):
    """Knobs that lead back: some worked answers where only those are missing, else the textbook's."""
    alone = k == replace(Knobs(), order=k.order, stages=k.stages, rare=k.rare, seed=k.seed)
    if cause in (NEVER, BORROWED) and k.rare < 0.01 and alone:
        return dict(rare=0.01)
    usual = {f.name: f.default for f in fields(k) if f.name != "seed"}
    return recovery.different(k, usual) or dict(rl_steps=300)


def worse(k, r):
    if r.ended and not whole(k):
        return set_back(k, r)
    if not (r.ended and whole(k)) or not LOW <= first(r.reports[-1]) < BEHIND:
        return None
    return Said(
        f"Pass@1 ends at {first(r.reports[-1]):.2f}, while the textbook path ends near 0.65.",
        measured(r)
        | {
            "the textbook ends higher": lambda: (
                first(end(run, Knobs(seed=k.seed)).reports[-1]) > first(r.reports[-1]) + 0.05
            )
        },
    )


def set_back(k, r):
    """Of a path that is cut: its last stage took right answers away, or there is still none."""
    before, now = (first(outcome) for outcome in r.reports[-2:])
    coming = PATHS[k.order][k.stages]
    if now < 0.01:
        rests = coming in ("rl", "rft", "dpo")  # on completions that are right; others imitate what they are shown
        then = ", so the next stage has nothing to start from" if rests else ""
        return Said(
            f"After {NAMES[r.names[-1]]}, pass@1 is still {now:.2f}{then}.",
            measured(r)
            | {"hardly one is right": lambda: now < 0.01, "others are not shown": lambda: not then or rests},
        )
    if now < before - 0.05:
        earlier, later = (outcome.modes[0] + outcome.modes[2] for outcome in r.reports[-2:])
        return Said(
            f"{NAMES[r.names[-1]]} took correct answers away. Pass@1 was {before:.2f} before it and is {now:.2f} now.",
            measured(r) | {"fewer are right than before it": lambda: later < earlier - 0.04},
        )
    return None


def decimal(share):
    """Two decimals, of what is rare three."""
    return f"{share:.3f}" if 0 < share < 0.01 else f"{share:.2f}"


def holds(k, r):
    if not r.ended:
        return Said("The stages are running.", {"not all have ended": lambda: len(r.reports) < len(r.names)})
    last = r.reports[-1]
    thinking = {"so many think first": lambda: abs(last.modes[0] + last.modes[1] - last.thinks) < 1e-9}
    if not whole(k):
        coming = NAMES[PATHS[k.order][k.stages]]
        return Said(
            f"So far pass@1 is {first(last):.2f}, and {100 * last.thinks:.0f} % of completions think first. {coming} "
            "comes next.",
            measured(r) | thinking | {"it comes next": lambda: len(r.names) - 1 == k.stages < len(PATHS[k.order])},
        )
    return Said(
        f"Pass@1 is {decimal(first(r.reports[0]))} at the base and {first(last):.2f} at the end, where "
        f"{100 * last.thinks:.0f} % of the completions think first.",
        measured(r) | thinking | {"it ends well": lambda: last.modes[0] + last.modes[2] > BEHIND - 0.005},
    )


# Two runs on the first screen


TWO_RUNS = "length is free", "length is charged"


def opened(plain, other):
    pairs = ((plain, TWO_RUNS[0], 8, "reference"), (other, TWO_RUNS[1], 1, ""))
    stages_done = [list(range(len(r.reports))) for r in (plain, other)]
    return [
        panel(
            "Correct answers at one try",
            "fraction after each stage, 100 held-out prompts",
            *(
                line(x, [first(outcome) for outcome in r.reports], name, s, role)
                for x, (r, name, s, role) in zip(stages_done, pairs)
            ),
            label(4, first(plain.reports[-1]) + 0.04, TWO_RUNS[0], 8, "right"),
            label(3.5, 0.02, TWO_RUNS[1], 1, "right"),
            x="stages so far",
            x_range=[0, 4.2],
            y_range=[0, 1],
        ),
        panel(
            "Completions that think first",
            "fraction after each stage",
            *(
                line(x, [float(outcome.thinks) for outcome in r.reports], name, s, role)
                for x, (r, name, s, role) in zip(stages_done, pairs)
            ),
            label(2.9, 0.9, TWO_RUNS[0], 8, "right"),
            label(3.4, 0.25, TWO_RUNS[1], 1, "right"),
            x="stages so far",
            x_range=[0, 4.2],
            y_range=[0, 1.1],
        ),
    ]


OPENING = Opening(Knobs(), Knobs(L_cache=4), opened, report.report, TWO_RUNS)
