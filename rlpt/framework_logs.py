"""A run of the trace lab as the files that a framework would leave behind, with the names that it uses.

Made for tests of the readers and as samples; not a model, and no log of a real run. A row shows the entropy, KL and
length of the policy before its updates, as a batch does; KL is per token. A held-out scorer is asked before training
and after every fifth update; OpenRLHF, which does not evaluate before training, asks it after every update.
"""

import json

import numpy as np

from sim.experiments import tracelab

EVERY = {"TRL": 5, "verl": 5, "OpenRLHF": 1}  # updates between evaluations
HELD_OUT = {  # {format: its column of the held-out score}
    "TRL": "eval_rewards/held_out/mean",
    "verl": "val-core/held_out/acc/mean@1",
    "OpenRLHF": "eval_held_out_pass1",
}


def before(trace):
    """{quantity: (steps,)} of the policy before each row's updates."""
    p, q = tracelab.REFERENCE
    start = dict(entropy=tracelab.entropy(p), kl=0.0, length=q @ tracelab.LENGTHS)
    return {name: np.r_[first, trace[name][:-1]] for name, first in start.items()}


def trained(trace, framework, options):
    """{metric: (steps,)} for a run with every logging option, or for one with the defaults."""
    was = before(trace)
    token = was["kl"] / was["length"]
    if framework == "TRL":
        return {
            "grad_norm": trace["gradient_norm"],
            "completions/mean_length": was["length"],
            "reward": trace["proxy"],
            "reward_std": trace["reward_sd"],
            "frac_reward_zero_std": trace["zero_variance"],
            "entropy": was["entropy"],
            "clip_ratio/region_mean": trace["clip_fraction"],
            **({"sampling/sampling_logp_difference/mean": trace["gap"], "kl": token} if options else {}),
        }
    if framework == "verl":
        return {
            "critic/score/mean": trace["proxy"],
            "critic/score/max": trace["reward_max"],
            "critic/score/min": trace["reward_min"],
            "response_length/mean": was["length"],
            "actor/entropy": was["entropy"],
            "actor/pg_clipfrac": trace["clip_fraction"],
            "actor/grad_norm": trace["gradient_norm"],
            "training/rollout_probs_diff_mean": trace["probability_gap"],
            "rollout_corr/k3_kl": trace["k3"],
            **({"actor/kl_loss": token} if options else {}),
        }
    return {
        "rollout/reward_mean": trace["proxy"],
        "rollout/reward_std": trace["reward_sd"],
        "rollout/response_length_mean": was["length"],
        "ppo_clip_ratio": trace["clip_fraction"],
        "actor_grad_norm": trace["gradient_norm"],
        "group_reward_std": trace["group_sd"],
        "kl": token,
        **({"vllm_kl": trace["signed"], "entropy_loss": was["entropy"]} if options else {}),
    }


def rows(trace, framework, options=True):
    """[(step, {metric: value})] in the order of the log; evaluations are separate rows."""
    columns = trained(trace, framework, options)
    held_out = np.r_[trace["right_before"][0], trace["right"]]
    out = [(0, {HELD_OUT[framework]: float(held_out[0])})] if framework != "OpenRLHF" else []
    for n in range(len(trace["proxy"])):
        out.append((n + 1, {name: float(column[n]) for name, column in columns.items()}))
        if (n + 1) % EVERY[framework] == 0:
            out.append((n + 1, {HELD_OUT[framework]: float(held_out[n + 1])}))
    return out


def prefixed(name, framework):
    """A name as the callbacks for Weights & Biases and TensorBoard write it."""
    if framework == "verl":
        return name
    if framework == "OpenRLHF":
        return f"eval/{name}" if name.startswith("eval_") else f"train/{name}"
    return name.replace("eval_", "eval/", 1) if name.startswith("eval_") else f"train/{name}"


# ── the formats: {file name: text} ──
def trainer_state(trace, framework="TRL", options=True):
    history = [{"epoch": step / 80, **values, "step": step} for step, values in rows(trace, framework, options)]
    state = {"best_global_step": None, "epoch": 1.0, "global_step": 80, "log_history": history, "max_steps": 80}
    return {"trainer_state.json": json.dumps(state, indent=2) + "\n"}


def history(trace, framework="TRL", options=True):
    """A run's history: `_step` counts the calls to Weights & Biases, except for verl, which sets it."""
    every = rows(trace, framework, options)
    names = list(dict.fromkeys(prefixed(name, framework) for _, values in every for name in values))
    steps = [] if framework == "verl" else ["train/global_step"]
    lines = [",".join(["_step", *steps, *names])]
    for call, (step, values) in enumerate(merged(every) if framework == "verl" else every):
        written = {prefixed(name, framework): repr(value) for name, value in values.items()}
        first = [str(step)] if framework == "verl" else [str(call), str(step)]
        lines.append(",".join([*first, *(written.get(name, "") for name in names)]))
    return {"history.csv": "\n".join(lines) + "\n"}


def series(trace, framework, options):
    """{metric as the callbacks name it: [(step, value)]}."""
    out = {}
    for step, values in rows(trace, framework, options):
        for name, value in values.items():
            out.setdefault(prefixed(name, framework), []).append((step, value))
    return out


def charts(trace, framework="verl", options=True):
    """A file for each chart of Weights & Biases, with the band drawn around it."""
    run = "grpo - seed 0"
    return {
        f"wandb_export_{n}.csv": "".join(
            [f'"Step","{run} - {name}","{run} - {name}__MIN","{run} - {name}__MAX"\n']
            + [f'"{step}","{value!r}","{value!r}","{value!r}"\n' for step, value in points]
        )
        for n, (name, points) in enumerate(series(trace, framework, options).items())
    }


def tensorboard(trace, framework="OpenRLHF", options=True):
    """A file for each tag."""
    return {
        f"run-seed0-tag-{name.replace('/', '_').replace('@', '_')}.csv": "Wall time,Step,Value\n"
        + "".join(f"{1.7e9 + 60 * step},{step},{value!r}\n" for step, value in points)
        for name, points in series(trace, framework, options).items()
    }


def merged(every):
    """Rows with the same step, merged into one."""
    out = {}
    for step, values in every:
        out.setdefault(step, {}).update(values)
    return list(out.items())


def verl_console(trace, framework="verl", options=True):
    lines = ["(TaskRunner pid=4711) Total training steps: 80"]
    for n, (step, values) in enumerate(merged(rows(trace, framework, options))):

        def spelled(name, value):
            return f"np.float64({value!r})" if name.startswith("val") else repr(value)

        pairs = " - ".join(f"{name}:{spelled(name, value)}" for name, value in values.items())
        color = "\x1b[36m(TaskRunner pid=4711)\x1b[0m " if n % 2 else "(TaskRunner pid=4711) "
        lines += [f"{color}step:{step} - {pairs}", "Training Progress:  10%|█         | 8/80 [01:00<09:00,  7.50s/it]"]
    return {"console.log": "\n".join(lines) + "\n"}


def verl_jsonl(trace, framework="verl", options=True):
    every = merged(rows(trace, framework, options))
    return {"run.jsonl": "".join(json.dumps({"step": step, "data": values}) + "\n" for step, values in every)}


def rollouts(trace):
    """The content of verl's trainer.rollout_data_dir, for 32 prompts with two completions each."""
    out = {}
    for n, share in enumerate(trace["zero_variance"]):
        lines = [
            json.dumps(dict(input=f"prompt {m}", output="…", gts=None, score=score, step=n + 1))
            for m in range(32)
            for score in (0.0, 0.0 if m < round(32 * share) else 1.0)
        ]
        out[f"{n + 1}.jsonl"] = "\n".join(lines) + "\n"
    return out


def openrlhf_console(trace, framework="OpenRLHF", options=True):
    lines = []
    for step, values in rows(trace, framework, options):
        told = "Evaluation completed in 0:00:03, global_step" if any(n.startswith("eval_") for n in values) else ""
        head = f"✨ {told} {step}, eval_metrics" if told else f"✨ Global step {step}"
        lines.append(f"2026-11-20 10:00:00 INFO     ppo_trainer.py:551 {head}: {values}")
    return {"train.log": "\n".join(lines) + "\n"}


FORMATS = {
    "TRL, trainer_state.json": trainer_state,
    "TRL, history of Weights & Biases": history,
    "verl, charts of Weights & Biases": charts,
    "OpenRLHF, TensorBoard": tensorboard,
    "verl, console": verl_console,
    "verl, JSONL": verl_jsonl,
    "OpenRLHF, console": openrlhf_console,
}


def export(trace, format, options=True):
    """{file name: text} for a run of the trace lab."""
    return FORMATS[format](trace, options=options)
