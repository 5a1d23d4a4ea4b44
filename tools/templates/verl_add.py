"""The sums of "RL post-training, from first principles", for verl VERL_VERSION: writes a data set and a reward function
into a folder, and prints the command that trains on them.

    pip install verl==VERL_VERSION datasets
    python verl-add.py --model Qwen/Qwen2.5-0.5B-Instruct --out verl-add

Nothing but this file is needed. Each prompt is a sum of two digits, and what is right is judged by the scorer of the
book, whose text stands below as it is there.
"""

import argparse
from pathlib import Path

# ── the setting: what "Copy as config" shows under verl, line by line ──
CONFIG = """
THE_CONFIG
"""

PROMPTS = THE_PROMPTS  # (a sum, its answer)
ASKED = "What is {}? Answer with one line and nothing else, in this form: Final: 42"


# ── the reward function: this text is written to reward.py ──
REWARD = r'''THE_SCORER


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **others):
    """What verl calls for each completion: 1.0 or 0.0. It is not told whether a completion was cut off; a longest
    response far above what an answer needs makes that rare.
    """
    return score({"expected_answer": ground_truth}, solution_str)["reward"]
'''


def rows():
    """The columns that verl reads: prompt, data_source, reward_model and extra_info."""
    for index, (sum_, answer) in enumerate(PROMPTS):
        yield {
            "data_source": "add",
            "prompt": [{"role": "user", "content": ASKED.format(sum_.replace("+", " + "))}],
            "ability": "math",
            "reward_model": {"style": "rule", "ground_truth": answer},
            "extra_info": {"split": "train", "index": index},
        }


def command(model, out):
    """What the setting says goes before what stands here."""
    said = [
        f"actor_rollout_ref.model.path={model}",
        "actor_rollout_ref.rollout.name=vllm",
        "actor_rollout_ref.rollout.tensor_model_parallel_size=1",
        "actor_rollout_ref.actor.use_dynamic_bsz=True",
        f"data.train_files={out / 'add.parquet'}",
        f"data.val_files={out / 'add.parquet'}",
        "data.max_prompt_length=128",
        "data.max_response_length=64",
        f"reward.custom_reward_function.path={out / 'reward.py'}",
        "reward.custom_reward_function.name=compute_score",
        "trainer.n_gpus_per_node=1",
        "trainer.total_training_steps=200",
        "trainer.logger=console",
    ]
    setting = CONFIG.split()
    chosen = {line.split("=")[0].lstrip("+") for line in setting}
    said = [line for line in said if line.split("=")[0] not in chosen]
    return " \\\n    ".join(["python -m verl.trainer.main_ppo", *said, *setting])


def main():
    parser = argparse.ArgumentParser(description="Writes the data set and the reward function, prints the command")
    parser.add_argument("--model", default="Qwen/Qwen2.5-0.5B-Instruct")
    parser.add_argument("--out", type=Path, default=Path("verl-add"))
    given = parser.parse_args()
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    from datasets import Dataset

    Dataset.from_list(list(rows())).to_parquet(out / "add.parquet")
    (out / "reward.py").write_text(REWARD, encoding="utf-8")
    print(command(given.model, out))


if __name__ == "__main__":
    main()
