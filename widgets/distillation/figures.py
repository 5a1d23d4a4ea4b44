"""The small figures of lesson 16b: two students that the same teacher grades, what three divergences push at the place
where the answer should begin, how many texts learning takes, and what a cold start is good for.
"""

from functools import cache, partial

import numpy as np

from sim.estimators import distillation
from sim.experiments import distilled
from sim.pipeline import path, stages
from sim.worlds.optimizer import AdamW
from sim.worlds.tinylm import EOS, FINAL
from widgets.distillation import graded
from widgets.frame.drawing import runs, scene
from widgets.frame.drawing.marks import dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time

SEED = 0


@cache
def trained(student, cold=0):
    """Frames of a training by all logits and reverse KL, with AdamW."""
    start, signal = path.checkpoint(distilled.STUDENTS[student]), distilled.everywhere(distillation.reverse)
    return tuple(distilled.run(start, distilled.teacher(), signal, AdamW(0.02, clip=1.0), SEED, cold=cold))


def texts(policy):
    """Those of the picture."""
    return distilled.written(policy, distilled.teacher(), graded.SHOWN, np.random.default_rng(graded.DRAWN_BY))


def board(key, title, frame):
    written = texts(frame.policy)
    ringed = graded.silenced(written)
    return scene.scene(title, graded.LEGEND, graded.view(key, written, ringed, "never writes Final:"))


# ── the opening: one teacher, two students ──
SETTINGS = ("thinks a little", "answers at once")
STUDENT = {SETTINGS[0]: "thinks a little", SETTINGS[1]: "answers at once"}
MOMENTS = tuple(range(0, distilled.UPDATES + 1, distilled.LOOK))


def frame(setting, moment):
    return trained(STUDENT[setting])[moment // distilled.LOOK]


def opening(setting, moment):
    return [board("o", "Three texts of a student, graded token by token", frame(setting, moment))]


def told(setting, moment):
    return f"The KL to the teacher is {frame(setting, moment).kl:.2f} nats per token."


OPENING = Figure(
    opening,
    distilled.run,
    Handle("Run", SETTINGS, start=1),
    told,
    Time(
        "Update",
        MOMENTS,
        tuple(f"update {moment} of {distilled.UPDATES}" for moment in MOMENTS),
        start=len(MOMENTS) - 1,
        ticks={i: str(moment) for i, moment in enumerate(MOMENTS) if moment % 20 == 0},
        strip=Strip(
            "Correct, of 100",
            lambda: [[frame(setting, moment).right for moment in MOMENTS] for setting in SETTINGS],
            lambda setting, moment: f"{100 * frame(setting, moment).right:.0f}",
        ),
        holds={0: 1500},
    ),
    stills=((0, 0), (1, 0), (0, len(MOMENTS) - 1)),
)

# ── what three divergences push where the answer should begin ──
DIRECTIONS = {
    "reverse": distillation.reverse,
    "JSD": partial(distillation.jsd, beta=0.5),
    "forward": distillation.forward,
}
ROW = 2  # of the prompts in the picture: 7 8 3 5, after 5, 8 and 3
BARS, ZERO, SCALE, FAR = 13.2, 19.0, 3.0, 24.4  # in squares: the names, no push, a push of 1, the numbers


@cache
def at_the_answer():
    """(log π, log τ) (1, V) each after three right totals, of the student that answers at once before training."""
    context = distilled.after_totals(graded.SHOWN[ROW : ROW + 1])
    student = path.checkpoint(distilled.STUDENTS["answers at once"])
    return distilled.log_pi(student, context), distilled.log_pi(distilled.teacher(), context)


def slope(direction):
    """(V,) by the logits."""
    return DIRECTIONS[direction](*at_the_answer())[1][0]


def pushed(direction):
    """Minus the slope: Final:, the stop, all others together."""
    push = -slope(direction)
    return float(push[FINAL]), float(push[EOS]), float(push.sum() - push[FINAL] - push[EOS])


def shares(logp):
    final, end = float(np.exp(logp[0, FINAL])), float(np.exp(logp[0, EOS]))
    return [("followed", final), ("against", end), ("rest", max(1 - final - end, 0.0))]


def push(direction):
    marks = []
    for i, (name, logp) in enumerate(zip(("the student", "the teacher"), at_the_answer())):
        x = 6.3 * i
        marks.append(scene.word(name, (x, 0.55), "strong"))
        marks.append(scene.hundred(f"d{i}", shares(logp), (x, 0.95)))
        marks.append(scene.word(f"Final: {runs.one_in(shares(logp)[0][1])}", (x, 6.3)))
    marks += [scene.word("the push", (BARS, 0.55), "strong"), scene.post((ZERO, 0.95), 4.6, "zero")]
    for i, (name, role, size) in enumerate(
        zip(("Final:", "stop", "others"), ("followed", "against", "rest"), pushed(direction))
    ):
        y, wide = 1.35 + 1.5 * i, SCALE * abs(size)
        marks.append(scene.word(name, (BARS, y + 0.65), ""))
        marks.append(scene.bar(f"b{i}", (ZERO - wide if size < 0 else ZERO, y), wide, role, 0.9))
        marks.append(scene.word(small(size), (FAR, y + 0.65), "", "end", key=f"n{i}"))
    pushes = ", ".join(f"{name} {small(size)}" for name, size in zip(("Final:", "stop", "others"), pushed(direction)))
    return [
        scene.scene(
            "After three correct totals: a hundred samples of each policy",
            "[followed] Final:, [against] stop; bars to the right: pushed up by the loss",
            scene.view("p", FAR, 6.5, f"With {direction}, the pushes are: {pushes}.", *marks),
        )
    ]


def small(push):
    """+1.00, −0.99, and what rounds to nothing as 0."""
    return "0" if abs(push) < 0.005 else f"{push:+.2f}".replace("-", "−")


def push_said(direction):
    size = abs(pushed(direction)[0])
    exact = f"{size:.2f}" if size > 0.005 else f"less than 10⁻{digits(size)}"
    return f"{direction[0].upper()}{direction[1:]} pushes Final: by {exact}."


def digits(size):
    """The power of ten above a small number: 5e-14 is less than 10⁻¹³."""
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(int(-np.floor(np.log10(size))) - 1))


# ── how many texts it takes ──
RL_UPDATES = 50


@cache
def reinforced():
    """[(own texts, right)] of RL with eight texts a prompt, from the student that thinks a little."""
    start = path.checkpoint(distilled.STUDENTS["thinks a little"])
    curve = [(0, trained("thinks a little")[0].right)]
    for stage in stages.rl(start, SEED, RL_UPDATES):
        if stage.step % 5 == 0:
            look = distilled.look(stage.policy, distilled.teacher(), SEED, stage.step, 0, 0)
            curve.append((stage.rows["rollouts"], look.right))
    return curve


def texts_taken():
    graded_ones = [(frame.own_texts, frame.right) for frame in trained("thinks a little")]
    paid = reinforced()
    return [
        panel(
            "Correct texts, by number of texts written",
            "share on held-out prompts, one seed; ring: 3,200 graded texts",
            line(*zip(*graded_ones), "graded by the teacher", 1),
            dots([graded_ones[-1][0]], [graded_ones[-1][1]], "graded by the teacher", 1, "here"),
            line(*zip(*paid), "rewarded at the end", 2),
            label(3_500, graded_ones[-1][1] + 0.01, "graded token by token", 1),
            label(12_800, paid[-1][1] - 0.02, "rewarded if correct (RL)", 2, "right", below=True),
            x="the student's own texts",
            x_range=(0, 12_800),
            y_range=(0, 0.8),
        )
    ]


# ── a cold start ──
COLD = (0, 50, 100, 200)


def cold(updates):
    return [board("c", "The same student after a cold start and distillation", trained("answers at once", updates)[-1])]


def cold_said(updates):
    frames = trained("answers at once", updates)
    (begun,) = [frame for frame in frames if frame.update == 0]
    return (
        f"{100 * begun.right:.0f} of 100 texts are correct when distillation begins, and {100 * frames[-1].right:.0f} "
        "when it ends."
    )


FIGURES = {
    "opening": OPENING,
    "push": Figure(
        push, distillation.reverse, Handle("The loss", tuple(DIRECTIONS), start=0, words=tuple(DIRECTIONS)), push_said
    ),
    "texts": Figure(texts_taken, distilled.run),
    "cold": Figure(
        cold,
        distilled.cold_start,
        Handle("Updates of cold start", COLD, start=2, words=tuple(map(str, COLD))),
        cold_said,
    ),
}
