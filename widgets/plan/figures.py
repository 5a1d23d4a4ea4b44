"""The small figures of the pages that plan a run: what shortens a step, and how far published runs are."""

from dataclasses import replace

from rlpt.planning import calibration, planner, validation
from sim.cluster import lengths, step
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from widgets.frame.drawing.marks import bars, dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle

EXAMPLE = planner.Scenario(
    MODELS["qwen2.5-32b"], ACCELERATORS["h100"], lengths.lognormal(3000, 0.8, 8192), gpus=128, overlap="async"
)


# ── what shortens a step ──
KEPT = replace(EXAMPLE, recompute="selective", training_parallel=2)  # two GPUs share a sequence's activations
STAGES = {
    "as it is": EXAMPLE,
    "activations kept": KEPT,
    "split 76 + 52": replace(EXAMPLE, share=76 / 128),
    "both": replace(KEPT, share=76 / 128),
    "both, log-probs reused": replace(KEPT, share=76 / 128, reuse=True),
    "and split 84 + 44": replace(KEPT, share=84 / 128, reuse=True),
}


NAMED = 50  # seconds above which a part's name has room in its bar


def lanes(name):
    s = STAGES[name]
    roles = planner.roles(s)
    parts = {
        "rollout": [step.seconds(roles, "rollout", s.overlap), 0],
        "weights": [roles.sync, 0],
        "log-probs": [0, roles.log_probs],
        "update": [0, roles.train],
    }
    seconds = planner.step_seconds(s, roles)
    return [
        panel(
            "Two lanes side by side",
            "seconds; the longer lane sets the step",
            *(
                bars(["engines", "trainer"], high, part, i, text=[part if height > NAMED else "" for height in high])
                for i, (part, high) in enumerate(parts.items(), 1)
            ),
            line([-0.5, 1.5], [seconds, seconds], "step", 5, "reference"),
            label(0.5, 1.02 * seconds, f"step {seconds:.0f} s", 0, "center"),
            y_range=[0, 560],
            stacked=True,
            ticks=dict(tickangle=0),
        )
    ]


def lanes_said(name):
    roles = planner.roles(STAGES[name])
    generate = step.seconds(roles, "rollout", "async") + roles.sync
    train = roles.log_probs + roles.train
    if train > generate:
        return f"The trainer takes {train:.0f} s, and the engines work for {generate:.0f} s of it."
    return f"The engines take {generate:.0f} s, and the trainer works for {train:.0f} s of it."


# ── published runs ──
def published():
    steps = [c for c in validation.compared() if c.role == "step"]
    kinds = {"dense": [c for c in steps if not c.row.model.moe], "experts": [c for c in steps if c.row.model.moe]}
    ends = [20.0, 2000.0]
    marks = [line(ends, ends, "as predicted", 1, "reference"), label(60, 76, "as predicted", 0, "right")]
    width = calibration.WIDTH
    for low, high, words in ((1.0, width, f"× {width}"), (width, 1.0, f"÷ {width}")):
        marks.append(line([ends[0] * low, ends[1] / high], [ends[0] * high, ends[1] / low], words, 5, "reference"))
    marks.append(label(0.95 * ends[1] / width, 0.9 * ends[1], f"× {width}", 0, "right"))
    marks.append(label(0.97 * ends[1], 0.95 * ends[1] / width, f"÷ {width}", 0, "right"))
    for series, (kind, runs) in enumerate(kinds.items(), 1):
        marks.append(dots([c.predicted for c in runs], [c.published for c in runs], kind, series))
        marks.append(label(1900, 40 * 0.7**series, kind, series, "right"))
    return [
        panel(
            "Published steps against predicted ones",
            "seconds, both axes log; each dot is a run",
            *marks,
            x="predicted, s",
            log="xy",
            x_range=[20, 2000],
            y_range=[20, 2000],
        )
    ]


FIGURES = {
    "lanes": Figure(lanes, planner.roles, Handle("Changes", tuple(STAGES), 3, tuple(STAGES)), lanes_said),
    "published": Figure(published, validation.compared),
}
