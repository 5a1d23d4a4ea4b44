"""What a page about an algorithm says of its setting, to be copied, at every preset and at each value of a knob."""

import html
from dataclasses import fields, replace

import pytest

from rlpt import options
from widgets.frame.reader import host

PAGES = [
    *("reinforce", "ppo", "gae", "grpo", "rloo", "dapo", "entropy", "dr_grpo", "reward_scale", "dpo", "compare"),
    *("distillation", "off_policy"),
]


def settings(w):
    """The presets, and every value on offer of a knob with the others at their default."""
    yield from w.PRESETS.values()
    for knob in fields(w.Knobs):
        m = knob.metadata
        on_offer = (
            [True, False] if m["kind"] == "toggle" else m.get("rungs") or m.get("options") or [m["low"], m["high"]]
        )
        yield from (replace(w.Knobs(), **{knob.name: value}) for value in on_offer)


@pytest.mark.parametrize("name", PAGES)
def test_every_setting_can_be_written_as_options_of_every_program(name):
    w = host.widget(name)
    for k in settings(w):
        for method in w.methods(k, None).values():
            assert list(options.texts(method)) == ["TRL 1.16.0", "verl 0.9.1", "OpenRLHF 0.11.2"]


def said(name, program, **knobs):
    w = host.widget(name)
    return options.text(program, *w.methods(w.Knobs(**knobs), None).values())


@pytest.mark.parametrize(
    "name, program, knobs, line",
    [
        ("grpo", "TRL", dict(K=16), "num_generations=16,"),
        ("grpo", "TRL", dict(advantage="minus the mean"), 'scale_rewards="none",'),
        ("grpo", "TRL", dict(advantage="minus the others' mean"), "RLOOConfig("),
        ("grpo", "verl", dict(deviation="population"), "# verl has no option for the standard deviation: population"),
        ("ppo", "verl", dict(clip=False), "actor_rollout_ref.actor.clip_ratio_low=1000000.0 \\"),
        ("ppo", "verl", dict(dual_clip="3"), "actor_rollout_ref.actor.clip_ratio_c=3.0 \\"),
        ("ppo", "OpenRLHF", dict(eps_high=0.5), "--actor.eps_clip_low_high 0.2 0.5 \\"),
        ("rloo", "verl", dict(passes=16), "actor_rollout_ref.actor.ppo_epochs=16 \\"),
        ("dr_grpo", "TRL", dict(divisor="constant", std=False), 'loss_type="dr_grpo",'),
        ("reinforce", "OpenRLHF", dict(baseline="batch mean"), "--algo.advantage.estimator flash_reinforce \\"),
        ("dpo", "TRL", dict(loss="APO-zero"), 'loss_type=["apo_zero"],'),
        ("dpo", "TRL", dict(loss="robust", flip=0.2), "label_smoothing=0.2,"),
        ("entropy", "TRL", dict(alpha=0.3), "entropy_coef=0.3,"),
        ("entropy", "verl", dict(eps_low=0.1), "actor_rollout_ref.actor.clip_ratio_low=0.1 \\"),
        ("distillation", "TRL", dict(direction="JSD"), "beta=0.5,"),
        ("distillation", "verl", dict(signal="likeliest k", k=10), "distillation.distillation_loss.topk=10"),
        (
            "off_policy",
            "TRL",
            dict(correction="bad answers masked"),
            "vllm_importance_sampling_correction=False, off_policy_mask_threshold=0.05,",
        ),
        ("off_policy", "verl", dict(passes=4), "algorithm.rollout_correction.loss_type=reinforce \\"),
        ("off_policy", "verl", dict(correction="decoupled"), "algorithm.rollout_correction.bypass_mode=False \\"),
        (
            "off_policy",
            "TRL",
            dict(passes=4),
            "# TRL weighs by the policy before its first step, and also clips the ratio since then",
        ),
    ],
)
def test_each_knob_is_exported_as_the_option_with_the_same_meaning(name, program, knobs, line):
    assert line in [row.strip() for row in said(name, program, **knobs).splitlines()]


def test_each_fix_of_dapo_is_exported_as_its_option_in_verl():
    w = host.widget("dapo")
    both = w.methods(w.Knobs(redraw="accuracy", eps_high=0.28, L_cache=4), None)
    text = options.text("verl", both["DAPO"])
    assert "algorithm.filter_groups.enable=True" in text and "overlong_buffer_cfg.len=4" in text
    assert list(both) == ["DAPO", "GRPO"] and "filter_groups" not in options.text("verl", both["GRPO"])


def test_the_page_shows_the_options_of_both_algorithms_by_name_and_escapes_them():
    w = host.widget("compare")
    config = host.config(w, w.Knobs(), None)
    assert "<h4>GRPO, TRL 1.16.0</h4>" in config and "<h4>Dr.GRPO, verl 0.9.1</h4>" in config
    assert html.escape('loss_type="dr_grpo"') in config
