"""The log_history of a run of TRL as other programs would have written it: with their names for the columns, and in
their forms.

Values are those of the run. What a program does not log is left out, so a log can only become poorer.
"""

import json

VERL = {
    "reward": "critic/score/mean",
    "completions/mean_length": "response_length/mean",
    "completions/clipped_ratio": "response_length/clip_ratio",
    "entropy": "actor/entropy",
    "kl": "actor/kl_loss",
    "grad_norm": "actor/grad_norm",
    "learning_rate": "actor/lr",
    "clip_ratio/region_mean": "actor/pg_clipfrac",
    "rewards/exact/mean": "val-core/task/acc/mean@1",
    "eval_rewards/exact/mean": "val-core/task/reward/mean@1",
}
OPENRLHF = {
    "reward": "rollout/reward_mean",
    "reward_std": "rollout/reward_std",
    "completions/mean_length": "rollout/response_length_mean",
    "completions/clipped_ratio": "rollout/truncated_rate",
    "kl": "kl",
    "grad_norm": "actor_grad_norm",
    "learning_rate": "actor_lr",
    "clip_ratio/region_mean": "ppo_clip_ratio",
}
LLAMA_FACTORY = {"loss": "loss", "learning_rate": "lr", "rewards/accuracies": "accuracy"}


def renamed(rows, framework):
    """The rows of a log as verl or OpenRLHF would have written them: a row a batch, and what they do not log left out.

    verl logs the largest and the smallest reward in place of a deviation, and asks a scorer every tenth step here;
    OpenRLHF's entropy is off by default, and no evaluation is set up.
    """
    names = VERL if framework == "verl" else OPENRLHF
    scored = [row for row in rows if "reward" in row]
    trained = {row.get("rewards/exact/mean") == row["reward"] for row in scored} == {True}
    binary = all(
        each["reward"] in (0, 1) or abs(each["reward_std"] ** 2 / (each["reward"] * (1 - each["reward"])) - 1) < 0.1
        for each in scored
        if each["reward"] <= 1
    )
    table = []
    for n, row in enumerate(scored, 1):
        out = {"step": n} | {names[key]: value for key, value in row.items() if key in names}
        if framework == "verl":
            out |= dict(zip(("critic/score/max", "critic/score/min"), ends(row, binary)))
            if trained or n % 10:
                out.pop("val-core/task/acc/mean@1", None)
        table.append(out)
    return table


def ends(row, binary):
    """The largest and the smallest reward of a batch: of zeros and ones, or as of two values."""
    mean, deviation = row["reward"], row["reward_std"]
    if deviation < 1e-6:
        return mean, mean
    return (1.0, 0.0) if binary else (mean + deviation, mean - deviation)


# ── the forms: rows to text ──
def csv(rows):
    """A row a step, seven digits."""
    joined = {}
    for row in rows:
        joined[row["step"]] = joined.get(row["step"], {}) | row
    names = list(dict.fromkeys(["step", *(name for row in joined.values() for name in row)]))
    lines = [",".join(f"{row[n]:.7g}" if n in row else "" for n in names) for row in joined.values() if len(row) > 1]
    return "\n".join([",".join(names), *lines]) + "\n"


def trainer_state(rows):
    return json.dumps(dict(log_history=rows, global_step=rows[-1]["step"]), indent=1) + "\n"


def printed(rows):
    """What the Trainer of transformers 5 prints: strings of four digits, and no steps."""
    shown = ({n: f"{value:.4g}" for n, value in row.items() if n != "step"} for row in rows)
    return "".join(f"{row}\n" for row in shown)


def notebook(rows):
    """The table that a notebook shows, as copied: tabs, and blanks around the bars of a name."""
    names = list(dict.fromkeys(n for row in rows for n in row if n not in ("step", "loss", "learning_rate")))
    spelled = [n.replace("/", " / ") for n in names]
    lines = ["\t".join(["Step", "Training Loss", *spelled])]
    for row in rows:
        if "loss" in row:
            numbers = (row.get(n) for n in ("loss", *names))
            lines.append("\t".join([f"{row['step']}", *("No log" if x is None else f"{x:.6f}" for x in numbers)]))
    return "\n".join(lines) + "\n"


def verl_console(rows):
    def line(row):
        numbers = " - ".join(f"{name}:{value!r}" for name, value in row.items() if name != "step")
        return f"(TaskRunner pid=2118) step:{row['step']} - {numbers}\n"

    return "".join(map(line, renamed(rows, "verl")))


def openrlhf_console(rows):
    def line(row):
        return f"✨ Global step {row['step']}: { {name: value for name, value in row.items() if name != 'step'} }\n"

    return "".join(map(line, renamed(rows, "OpenRLHF")))


def llama_factory(rows):
    kept = [row for row in rows if "loss" in row]
    named = ({LLAMA_FACTORY[name]: value for name, value in row.items() if name in LLAMA_FACTORY} for row in kept)
    lines = ({"current_steps": row["step"], "total_steps": len(kept)} | each for row, each in zip(kept, named))
    return "".join(f"{json.dumps(line)}\n" for line in lines)
