"""The small figures of lesson 25: how wide the steps of a number format are, what depth does, and what a shared prompt
is worth."""

import numpy as np

from sim.cluster import kernels
from sim.cluster.kernels import Workload
from sim.estimators import precision
from sim.experiments import rounding_net
from widgets.frame.drawing.marks import bars, dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle

# ── steps of a format ──
LOGITS = (0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 14.0, 20.0, 28.0, 40.0)


def half_step(logit, form):
    """By how many per cent a probability moves when its logit is rounded by half a step of the format."""
    return 100 * np.expm1(precision.step_at(logit, form) / 2)


def steps(logit):
    at = np.geomspace(0.5, 40, 241)
    return [
        panel(
            "Largest change of a probability",
            "%, if its logit is rounded; log scales",
            *(line(at, half_step(at, form), form, series) for form, series in (("bf16", 1), ("fp16", 2))),
            label(0.55, 0.3, "bf16", 1),
            label(0.55, 0.035, "fp16", 2),
            dots([logit] * 2, [half_step(logit, "bf16"), half_step(logit, "fp16")], "here", role="here"),
            x="logit",
            log="xy",
            x_range=(0.44, 44),
            y_range=(0.01, 30),
            ticks=dict(tickvals=[0.5, 1, 2, 5, 10, 20, 40], ticktext=["0.5", "1", "2", "5", "10", "20", "40"]),
        )
    ]


def steps_said(logit):
    return (
        f"Near a logit of {logit:g}, bf16 has steps of {precision.step_at(logit, 'bf16'):g}, so a probability moves by "
        f"up to {half_step(logit, 'bf16'):.2g} %. In fp16, it moves by up to {half_step(logit, 'fp16'):.2g} %."
    )


# ── depth ──
def depth(layers):
    modes = rounding_net.MODES
    life = [rounding_net.half_life(rounding_net.gaps()[mode, layers]) for mode in modes]
    places = list(range(len(modes)))
    return [
        panel(
            "Tokens until half of the sequences count",
            f"{layers} layers, random weights; log scale",
            bars(places, life, "tokens", 1),
            *(label(n, v * 1.1, f"{v:,.0f}", 1, "center") for n, v in zip(places, life)),
            x_range=(-0.6, 3.6),
            y_range=(1, 1e6),
            log="y",
            y_ticks=dict(tickvals=[1, 100, 1e4, 1e6], ticktext=["1", "100", "10<sup>4</sup>", "10<sup>6</sup>"]),
            ticks=dict(tickvals=places, ticktext=["fp16", "bf16, fp32 head", "bf16", "fp8"], tickangle=0),
        )
    ]


def depth_said(layers):
    lives = {mode: rounding_net.half_life(rounding_net.gaps()[mode, layers]) for mode in ("bf16", "fp8")}
    return (
        f"With {layers} layers, half are left after {lives['bf16']:,.0f} tokens in bf16, and after "
        f"{lives['fp8']:,.0f} tokens in fp8."
    )


# ── a shared prompt ──
PROMPTS = tuple(2**n for n in range(7, 15))


def prefix_attention(prompt):
    return kernels.surfaces(work=Workload(prompt, 8192, 16, 8))[0]


def shared(prompt):
    surfaces = [prefix_attention(p) for p in PROMPTS]

    def curve(values):
        return [line(PROMPTS, values, "", 1), dots([prompt], [values[PROMPTS.index(prompt)]], "here", role="here")]

    return [
        panel(
            "Speed-up of attention",
            "times as fast; 16 completions of 8,192 tokens",
            *curve([s.speedup for s in surfaces]),
            x="prompt length, tokens",
            log="x",
            x_range=(85, 20000),
            y_range=(0, 5),
        ),
        panel(
            "Share of the step that it saves",
            "%",
            *curve([100 * s.gain for s in surfaces]),
            x="prompt length, tokens",
            log="x",
            x_range=(85, 20000),
            y_range=(0, 50),
        ),
    ]


def shared_said(prompt):
    speedup, gain = prefix_attention(prompt).speedup, 100 * prefix_attention(prompt).gain
    return (
        f"With a prompt of {prompt:,} tokens, attention is {speedup:.2f} times as fast, which saves {gain:.1f} % of "
        "the step."
    )


FIGURES = {
    "shared": Figure(
        shared,
        kernels.surfaces,
        Handle("Prompt length", PROMPTS, start=1, words=tuple(f"{p:,}" for p in PROMPTS)),
        shared_said,
    ),
    "steps": Figure(
        steps,
        precision.step_at,
        Handle("Logit", LOGITS, start=LOGITS.index(20.0), words=tuple(f"{x:g}" for x in LOGITS)),
        steps_said,
    ),
    "depth": Figure(
        depth,
        rounding_net.half_life,
        Handle("Layers", rounding_net.DEPTHS, start=2, words=tuple(str(n) for n in rounding_net.DEPTHS)),
        depth_said,
    ),
}
