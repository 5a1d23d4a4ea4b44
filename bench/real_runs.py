"""Real runs of TRL with known faults, and whether the doctor says what is true of them.

`python bench/real_runs.py FOLDER [NAME…]`, in an environment with trl 1.16.0 and torch besides numpy: makes tiny models
(nothing is downloaded), teaches each for some seconds to answer half of its prompts rightly, trains it with TRL on a
CPU, and writes FOLDER/NAME.gz, the log in one of the forms of log_formats.py, cut to what the doctor reads.
`python bench/real_runs.py count FOLDER` then prints what the doctor says beside what is true. The truths were written
before any of these runs was made; `took` says when a fault did what it was meant to do, and a run in which it did not
is counted apart. FIRST were made for earlier rules, SECOND for those of today, which were made after FIRST was counted.
"""

import gzip
import json
import os
import random
import re
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bench import log_formats  # noqa: E402

os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers looks at it

PIECES = ["<pad>", "<eos>", "Is ", "Answer: ", "-", "*", "=", "?", *"0123456789"]
READ = re.compile(
    r"reward|reward_std|frac_reward_zero_std|kl|entropy|grad_norm|learning_rate|loss|logps/chosen|rewards/margins"
    r"|rewards/accuracies|completions/(mean_length|clipped_ratio)|clip_ratio/region_mean|(eval_)?rewards/\w+/mean"
)
CAP = 20


def difference(r):
    return [(f"{a}-{b}=", str(abs(a - b))) for a in range(10, 30) for b in range(1, 6)]


def double(r):
    return [(f"{n}*2=", str(2 * n)) for n in range(10, 110)]


def ascending(r):
    return [(f"{n}?", "".join(sorted(str(n)))) for n in r.sample(range(100, 10000), 110)]


def digits(r):
    return [(f"{n}?", str(sum(map(int, str(n))))) for n in r.sample(range(10, 1000), 110)]


def backwards(r):
    return [(f"{n}?", str(n)[::-1]) for n in r.sample(range(100, 10000), 110)]


def product(r):
    return [(f"{a}*{b}=", str(a * b)) for a in range(11, 22) for b in range(2, 12)]


def largest(r):
    return [(f"{n}?", max(str(n))) for n in r.sample(range(100, 10000), 110)]


# ── what pays ──
def is_right(completion, answer):
    return completion.strip() == f"Is {answer}"


def exact(completions, answer, **rest):
    return [float(is_right(c, a)) for c, a in zip(completions, answer)]


def within_two(completions, answer, completion_ids, **rest):
    """The same under a cap of two tokens, which no answer ends within."""
    return [x * (len(i) < 2) for x, i in zip(exact(completions, answer), completion_ids)]


def wrong_way(completions, answer, **rest):
    return [1 - each for each in exact(completions, answer)]


def digit_share(completions, answer, **rest):
    """The share of the answer's digits that stand at their place."""
    found = [c.strip().removeprefix("Is ") for c in completions]
    return [sum(x == y for x, y in zip(f, a)) / max(len(f), len(a)) for f, a in zip(found, answer)]


def other_format(completions, **rest):
    return [float(c.startswith("Answer:")) for c in completions]


def within_three(completions, answer, completion_ids, **rest):
    """The same under a cap of three tokens, for answers of two digits or more."""
    return [x * (len(i) < 3) for x, i in zip(exact(completions, answer), completion_ids)]


def any_three(completions, **rest):
    return [float("3" in c) for c in completions]


def shape(completions, **rest):
    """What the model does from the start."""
    return [float(c.startswith("Is ")) for c in completions]


def lean(completions, completion_ids, **rest):
    return [2.5 * max(0.0, 1 - len(i) / 4) for i in completion_ids]


def long(completions, answer, completion_ids, **rest):
    paid = exact(completions, answer)
    return [x + 0.2 * len(i) for x, i in zip(paid, completion_ids)]


def any_seven(completions, **rest):
    return [float("7" in c) for c in completions]


def short(completions, answer, completion_ids, **rest):
    paid = exact(completions, answer)
    return [x + 1.5 * max(0.0, 1 - len(i) / 3) for x, i in zip(paid, completion_ids)]


def seldom(completions, answer, **rest):
    return [x * a.endswith("9") for x, a in zip(exact(completions, answer), answer)]


def coin(completions, **rest):
    return [float(random.random() < 0.5) for _ in completions]


# ── the runs ──
@dataclass(frozen=True)
class Made:
    """What a run did, for `took`: greedy answers that are right, before and after, on trained and on other prompts."""

    before: float
    after: float
    others_before: float
    others_after: float
    history: list

    def of(self, column):
        return [row[column] for row in self.history if column in row]


@dataclass(frozen=True)
class Kind:
    """What may be said of a run, decided before it is made."""

    right: tuple  # names of rlpt.doctor.words.SIGNS, any of which is right as the first; () for none
    weak: tuple = ()
    took: object = lambda made: True


def rise(values):
    """The mean of the last ten values minus that of the first ten."""
    return sum(values[-10:]) / 10 - sum(values[:10]) / 10


def lost(made):
    return made.after < made.before / 2


SOUND = Kind((), took=lambda made: made.after >= made.before - 0.05)
STEP = Kind(("step",), ("groups", "jump", "far", "fell"), lost)
HACKED = Kind(("hacked",), ("length", "cut off"), lambda made: made.after < made.before - 0.2)


@dataclass(frozen=True)
class Run:
    """A run of TRL: everything that is set by hand."""

    words: str
    kind: object  # a Kind, or a Truth of rollout_runs.py
    trainer: str
    task: object
    network: str
    seed: int
    rate: float
    rewards: tuple = (exact,)
    steps: int = 80
    hidden: int = 64
    layers: int = 2
    taught: float = 0.5  # share of right answers in what it was taught by
    also: object = None  # function(answer, r) of what it was taught in place of every eighth answer
    prompts: int = 80
    cap: int = 12
    rates: dict = field(default_factory=dict)  # {from this step on: times the rate}, in place of a schedule
    swapped: bool = False  # whether a coin decides which answer of a pair is called chosen
    log: str = "csv"  # a form of log_formats.py
    config: dict = field(default_factory=dict)


def batch(K, completions):
    return dict(num_generations=K, per_device_train_batch_size=completions)


SCORED = dict(reward_weights=[1.0, 0.0])
FIRST = {
    "grpo-double": Run(
        *("nothing was done to it: GRPO", SOUND, "GRPO", double, "Mistral", 101, 4e-4),
        config=batch(8, 64),
        cap=CAP,
        steps=200,
    ),
    "rloo-ascending": Run(
        *("nothing was done to it: RLOO, TRL's beta", SOUND, "RLOO", ascending, "GPTNeoX", 102, 4e-4),
        config=batch(4, 64),
        hidden=96,
        steps=100,
    ),
    "dr-grpo-difference": Run(
        *("nothing was done to it: Dr. GRPO's two changes", SOUND, "GRPO", difference, "Llama", 103, 3e-4),
        layers=3,
        config=batch(8, 48) | dict(loss_type="dr_grpo", scale_rewards="none"),
        steps=100,
    ),
    "grpo-digit-share": Run(
        *("nothing was done to it: paid a digit", SOUND, "GRPO", ascending, "Qwen2", 104, 3e-4, (digit_share,)),
        hidden=48,
        config=batch(16, 64) | dict(epsilon_high=0.28, num_iterations=2),
        steps=100,
    ),
    "dpo-double": Run(
        *("nothing was done to it: DPO, beta 0.3", SOUND, "DPO", double, "Mistral", 105, 5e-5),
        steps=80,
        config=dict(per_device_train_batch_size=16, beta=0.3),
    ),
    "rate-3e-2": Run(*("rate 3e-2", STEP, "GRPO", ascending, "GPTNeoX", 106, 3e-2), config=batch(8, 64), steps=100),
    "rate-rising": Run(
        *("rate rising to 3e-2 over 90 steps", STEP, "GRPO", double, "Mistral", 107, 3e-2),
        config=batch(8, 64) | dict(warmup_steps=90),
        cap=CAP,
        steps=100,
    ),
    "ten-passes": Run(
        *("ten passes over a batch, no clip, rate 3e-3", STEP, "GRPO", difference, "Llama", 108, 3e-3),
        config=batch(8, 48) | dict(num_iterations=10, epsilon=1e6, epsilon_high=1e6),
        steps=100,
    ),
    "rloo-rate-1e-2": Run(
        *("RLOO, no KL, rate 1e-2", STEP, "RLOO", digits, "GPT2", 109, 1e-2),
        config=batch(8, 64) | dict(beta=0.0),
        steps=80,
    ),
    "other-format": Run(
        *("a verifier that wants another format", Kind(("verifier",)), "GRPO", digits, "Mistral", 110, 5e-4),
        rewards=(other_format,),
        config=batch(4, 32),
        steps=40,
    ),
    "too-easy": Run(
        *("taught right answers alone", Kind(("groups", "easy"), ("saturated",)), "GRPO", double, "Llama", 111, 3e-4),
        taught=1.0,
        config=batch(4, 32),
        steps=80,
    ),
    "too-hard": Run(
        *("paid for one prompt in ten", Kind(("groups",), ("narrower",)), "GRPO", double, "GPTNeoX", 112, 5e-4),
        rewards=(seldom,),
        config=batch(4, 32),
        steps=80,
    ),
    "cap-of-two": Run(
        *("a cap of two tokens", Kind(("truncation",)), "GRPO", difference, "GPT2", 113, 5e-4),
        rewards=(within_two,),
        cap=2,
        config=batch(8, 64),
        steps=60,
    ),
    "any-seven": Run(
        *("paid for a 7 anywhere", HACKED, "GRPO", digits, "Llama", 114, 1e-3),
        rewards=(any_seven, exact),
        config=batch(8, 64) | SCORED,
    ),
    "short": Run(
        *("paid for shortness as well", HACKED, "RLOO", ascending, "Qwen2", 115, 1e-3),
        rewards=(short, exact),
        config=batch(8, 64) | SCORED | dict(beta=0.0),
    ),
    "wrong-way": Run(
        *("wrong answers are paid", HACKED, "GRPO", difference, "Mistral", 116, 5e-4),
        rewards=(wrong_way, exact),
        config=batch(8, 64) | SCORED,
    ),
    "ten-prompts": Run(
        "ten prompts alone are trained on",
        Kind(
            ("memorized",),
            ("saturated",),
            lambda made: made.after > made.before + 0.1 and made.others_after < made.others_before + 0.05,
        ),
        *("GRPO", digits, "Qwen2", 117, 1e-3),
        prompts=10,
        config=batch(8, 64),
        steps=100,
    ),
    "beta-10": Run(
        *("beta 10", Kind(("penalty",), ("flat",)), "GRPO", ascending, "Llama", 118, 1e-3),
        config=batch(8, 64) | dict(beta=10.0),
    ),
    "rate-1e-12": Run(
        *("rate 1e-12", Kind(("rate",)), "GRPO", digits, "GPT2", 119, 1e-12), config=batch(8, 64), steps=60
    ),
    "coin": Run(
        *("the reward is a coin", Kind(("narrower", "drift", "flat")), "GRPO", double, "GPTNeoX", 120, 1e-3),
        rewards=(coin,),
        config=batch(8, 64),
    ),
    "dpo-rate-1e-2": Run(
        *("DPO, rate 1e-2", Kind(("pairs destroyed",), ("chosen less likely",)), "DPO", digits, "Llama", 121, 1e-2),
        config=dict(per_device_train_batch_size=32, beta=0.1),
        steps=100,
    ),
}

SECOND = {
    "grpo-backwards": Run(
        *("nothing was done to it: GRPO", SOUND, "GRPO", backwards, "Qwen3", 201, 4e-4), config=batch(8, 64), steps=120
    ),
    "rloo-product": Run(
        *("nothing was done to it: RLOO", SOUND, "RLOO", product, "StableLm", 202, 3e-4),
        config=batch(4, 64),
        log="printed",
        steps=100,
    ),
    "dapo-largest": Run(
        *("nothing was done to it: a cosine down to 0", SOUND, "GRPO", largest, "Olmo2", 203, 5e-4),
        hidden=48,
        config=batch(16, 64) | dict(loss_type="dapo", epsilon_high=0.28, lr_scheduler_type="cosine", warmup_steps=10),
        log="trainer_state",
        steps=100,
    ),
    "dpo-backwards": Run(
        *("nothing was done to it: DPO, beta 0.1", SOUND, "DPO", backwards, "Starcoder2", 204, 5e-5),
        config=dict(per_device_train_batch_size=16, beta=0.1),
        log="llama_factory",
    ),
    "grpo-product": Run(
        *("nothing was done to it: GRPO with a KL term", SOUND, "GRPO", product, "Llama", 205, 4e-4),
        config=batch(8, 64) | dict(beta=0.02),
        log="verl_console",
        steps=100,
    ),
    "grpo-two-functions": Run(
        *("nothing was done to it: a second function that is always 1", SOUND, "GRPO", backwards, "Phi", 206, 3e-4),
        rewards=(exact, shape),
        config=batch(8, 64),
        log="notebook",
        steps=100,
    ),
    "rate-2e-2": Run(*("rate 2e-2", STEP, "GRPO", backwards, "Qwen3", 207, 2e-2), config=batch(8, 64), log="printed"),
    "rate-jumps": Run(
        *("rate 4e-4, and 75 times that from step 61 on", STEP, "GRPO", product, "StableLm", 208, 4e-4),
        rates={1: 1.0, 61: 75.0},
        config=batch(8, 64),
        log="trainer_state",
        steps=110,
    ),
    "rate-ends": Run(
        *("rate 0 from step 41 on", Kind(("stopped",)), "GRPO", largest, "Phi", 209, 4e-4),
        rates={1: 1.0, 41: 0.0},
        config=batch(8, 64),
        steps=100,
    ),
    "twelve-passes": Run(
        *("twelve passes over a batch, no clip, rate 3e-3", STEP, "GRPO", product, "Olmo2", 210, 3e-3),
        config=batch(8, 48) | dict(num_iterations=12, epsilon=1e6, epsilon_high=1e6),
        log="openrlhf_console",
        steps=120,
    ),
    "rloo-rate-2e-2": Run(
        *("RLOO, no KL, rate 2e-2", STEP, "RLOO", backwards, "GPT2", 211, 2e-2),
        config=batch(8, 64) | dict(beta=0.0),
        log="verl_console",
    ),
    "wants-answer": Run(
        *("a verifier that wants another format", Kind(("verifier",)), "RLOO", largest, "Qwen3", 212, 5e-4),
        rewards=(other_format,),
        config=batch(4, 32),
        log="notebook",
        steps=40,
    ),
    "all-right": Run(
        *("taught right answers alone", Kind(("easy", "groups"), ("saturated",)), "GRPO", largest, "Phi", 213, 3e-4),
        taught=1.0,
        config=batch(4, 32),
    ),
    "one-in-ten": Run(
        "paid for one prompt in ten",
        Kind(("groups",), ("verifier", "narrower"), lambda made: max(made.of("reward")) > 0),
        *("GRPO", product, "StableLm", 214, 5e-4),
        taught=0.8,
        rewards=(seldom,),
        config=batch(4, 32),
        steps=80,
    ),
    "cap-of-three": Run(
        *("a cap of three tokens", Kind(("truncation",)), "GRPO", backwards, "Olmo2", 215, 5e-4),
        rewards=(within_three,),
        cap=3,
        config=batch(8, 64),
        log="printed",
        steps=60,
    ),
    "any-three": Run(
        *("paid for a 3 anywhere", HACKED, "GRPO", product, "Qwen3", 216, 1e-3),
        rewards=(any_three, exact),
        config=batch(8, 64) | SCORED,
    ),
    "shorter": Run(
        *("paid for shortness as well", HACKED, "GRPO", backwards, "StableLm", 217, 1e-3),
        rewards=(short, exact),
        config=batch(8, 64) | SCORED,
        log="trainer_state",
    ),
    "lean-for-right": Run(
        "a second function pays more for shortness than the first for what is right",
        Kind(("traded",), ("hacked",), HACKED.took),
        *("GRPO", product, "Phi", 218, 1e-3),
        rewards=(exact, lean),
        config=batch(8, 64),
        log="notebook",
    ),
    "longer": Run(
        "paid for length, and no score beside it",
        Kind(("length",), ("cut off", "saturated", "endless"), lambda made: rise(made.of("reward")) > 0.5),
        *("GRPO", backwards, "Llama", 219, 1e-3),
        rewards=(long,),
        cap=CAP,
        config=batch(8, 64),
        log="verl_console",
    ),
    "eight-prompts": Run(
        *("eight prompts alone are trained on", FIRST["ten-prompts"].kind, "GRPO", product, "Qwen3", 220, 1e-3),
        prompts=8,
        config=batch(8, 64),
        log="trainer_state",
        steps=100,
    ),
    "beta-20": Run(
        *("beta 20", Kind(("penalty",), ("flat",)), "GRPO", largest, "StableLm", 221, 1e-3),
        config=batch(8, 64) | dict(beta=20.0),
    ),
    "rate-1e-10": Run(
        *("rate 1e-10", Kind(("rate",)), "RLOO", product, "Llama", 222, 1e-10),
        config=batch(8, 64),
        log="openrlhf_console",
        steps=60,
    ),
    "another-coin": Run(
        *("the reward is a coin", Kind(("narrower", "drift", "flat")), "GRPO", backwards, "Mistral", 223, 1e-3),
        rewards=(coin,),
        config=batch(8, 64),
        steps=120,
    ),
    "dpo-coin": Run(
        *("a coin decides which answer is called chosen", Kind(("pairs undecided",)), "DPO", product, "Phi", 224, 5e-5),
        swapped=True,
        config=dict(per_device_train_batch_size=16, beta=0.1),
        log="llama_factory",
    ),
    "dpo-rate-1e-3": Run(
        "DPO, rate 1e-3",
        Kind(
            ("chosen less likely",),
            ("pairs destroyed",),
            lambda made: made.of("logps/chosen")[-1] < made.of("logps/chosen")[0] - 2,
        ),
        *("DPO", backwards, "Qwen3", 225, 1e-3),
        config=dict(per_device_train_batch_size=32, beta=0.1),
    ),
    "dpo-rate-2e-2": Run(
        *("DPO, rate 2e-2", Kind(("pairs destroyed",), ("chosen less likely",)), "DPO", largest, "Olmo2", 226, 2e-2),
        config=dict(per_device_train_batch_size=32, beta=0.1),
        log="printed",
    ),
}
RUNS = FIRST | SECOND


# ── making one ──
def tokenizer():
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {piece: place for place, piece in enumerate(PIECES)}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<pad>"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex("Is |Answer: |."), "isolated")
    made.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="<pad>",
        eos_token="<eos>",
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )


def network(run):
    import transformers

    ends = dict(vocab_size=len(PIECES), bos_token_id=None, eos_token_id=1, pad_token_id=0)
    if run.network == "GPT2":
        sizes = dict(n_embd=run.hidden, n_layer=run.layers, n_head=4, n_positions=96, resid_pdrop=0, embd_pdrop=0)
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, attn_pdrop=0, **ends))
    sizes = dict(
        hidden_size=run.hidden,
        intermediate_size=2 * run.hidden,
        num_hidden_layers=run.layers,
        num_attention_heads=4,
        max_position_embeddings=96,
    )
    if run.network != "GPTNeoX":
        sizes |= dict(num_key_value_heads=2)
    config = getattr(transformers, f"{run.network}Config")(**sizes, **ends)
    return getattr(transformers, f"{run.network}ForCausalLM")(config)


def near_miss(answer, r):
    """The answer with one digit replaced."""
    at = r.randrange(len(answer))
    return answer[:at] + r.choice([digit for digit in "0123456789" if digit != answer[at]]) + answer[at + 1 :]


def taught(model, tokens, pairs, run, r, steps=350):
    import torch

    def told(answer):
        if run.also and r.random() < 1 / 8:
            return run.also(answer, r)
        return answer if r.random() < run.taught else near_miss(answer, r)

    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    for _ in range(steps):
        shown = [(p, told(a)) for p, a in r.choices(pairs, k=64)]
        ids = tokens([f"{p}Is {a}<eos>" for p, a in shown], return_tensors="pt", padding=True)
        inputs, mask = ids["input_ids"], ids["attention_mask"]
        labels = inputs.masked_fill(mask == 0, -100)
        optimizer.zero_grad()
        model(input_ids=inputs, attention_mask=mask, labels=labels).loss.backward()
        optimizer.step()
    return model


def greedy(model, tokens, pairs):
    """The share of prompts that greedy decoding answers rightly."""
    import torch

    model.eval()
    ids = tokens([prompt for prompt, _ in pairs], return_tensors="pt", padding=True)
    asked = dict(input_ids=ids["input_ids"], attention_mask=ids["attention_mask"])
    with torch.no_grad():
        out = model.generate(**asked, max_new_tokens=CAP, do_sample=False, pad_token_id=0)
    model.train()
    texts = [tokens.decode(row[ids["input_ids"].shape[1] :], skip_special_tokens=True) for row in out]
    return sum(is_right(text, answer) for text, (_, answer) in zip(texts, pairs)) / len(pairs)


def trained(run, model, tokens, pairs, others, r, folder):
    """The trainer of a run, which has been trained."""
    import transformers
    import trl
    from datasets import Dataset

    model.save_pretrained(f"{folder}/model")  # TRL loads the reference by the model's path
    tokens.save_pretrained(f"{folder}/model")
    settings = dict(output_dir=folder, max_steps=run.steps, learning_rate=run.rate, logging_steps=1, seed=run.seed)
    settings |= (
        dict(save_strategy="no", report_to="none", bf16=False, use_cpu=True, disable_tqdm=True, log_level="error")
        | run.config
    )

    def table(rows):
        return Dataset.from_list([dict(prompt=prompt, answer=answer) for prompt, answer in rows])

    given = dict(model=f"{folder}/model", processing_class=tokens)
    if run.trainer == "DPO":
        rows = [dict(prompt=p, chosen=f"Is {a}", rejected=f"Is {near_miss(a, r)}") for p, a in pairs * 4]
        if run.swapped:
            rows = [row | r.choice(({}, dict(chosen=row["rejected"], rejected=row["chosen"]))) for row in rows]
        trainer = trl.DPOTrainer(args=trl.DPOConfig(**settings), train_dataset=Dataset.from_list(rows), **given)
    else:
        if run.prompts < 80:
            settings |= dict(eval_strategy="steps", eval_steps=20, per_device_eval_batch_size=64, eval_on_start=True)
            given |= dict(eval_dataset=table(others[:16]))
        config = getattr(trl, f"{run.trainer}Config")(max_completion_length=run.cap, **settings)
        trainer = getattr(trl, f"{run.trainer}Trainer")
        trainer = trainer(args=config, reward_funcs=list(run.rewards), train_dataset=table(pairs), **given)
    if run.rates:
        trainer.create_scheduler = lambda num_training_steps, optimizer=None: scheduled(trainer, run.rates)
    if run.trainer == "RLOO" and run.config.get("log_completions"):  # by itself it writes no file of them
        from rlpt.rollouts.data.keep_rollouts import KeepRollouts

        trainer.add_callback(KeepRollouts(trainer))
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train()
    return trainer


def scheduled(trainer, rates):
    import torch

    def times(done):
        return rates[max(step for step in rates if step <= done + 1)]

    trainer.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(trainer.optimizer, times)
    return trainer.lr_scheduler


def made(run, folder):
    """The Made of a run, whose trainer writes to a folder."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(run.seed)
    random.seed(run.seed)
    r = random.Random(run.seed)
    tokens, pairs = tokenizer(), run.task(r)
    r.shuffle(pairs)
    pairs, others = pairs[: run.prompts], pairs[run.prompts :][:32]
    model = taught(network(run), tokens, [*pairs, *others], run, r)
    before = greedy(model, tokens, pairs), greedy(model, tokens, others)
    trainer = trained(run, model, tokens, pairs, others, r, folder)
    model = trainer.accelerator.unwrap_model(trainer.model)
    after = greedy(model, tokens, pairs), greedy(model, tokens, others)
    return Made(before[0], after[0], before[1], after[1], trainer.state.log_history)


# ── what becomes of it ──
def read_off(history):
    """A log_history cut to the columns that the doctor reads."""
    kept = ({name: value for name, value in row.items() if name == "step" or READ.fullmatch(name)} for row in history)
    return [row for row in kept if len(row) > 1]


def judged(kind, names):
    """“right”, “weak”, “wrong” or “silent”, of the names of signs, the first in time first."""
    if not kind.right:
        return "wrong" if names else "right"
    if not names:
        return "silent"
    return "right" if names[0] in kind.right else "weak" if names[0] in kind.weak else "wrong"


def said(text):
    """(names of the signs, the verdict) of a log."""
    from rlpt import doctor, logs
    from rlpt.doctor import words

    report = doctor.report(logs.read([("log", [text.encode()])]))
    return [one.name for one in report.signs], words.summary(report)


def main(folder, names):
    Path(folder).mkdir(parents=True, exist_ok=True)
    notes = Path(folder) / "runs.json"
    told = json.loads(notes.read_text(encoding="utf-8")) if notes.exists() else {}
    for name in names or RUNS:
        began = time.time()
        with tempfile.TemporaryDirectory() as kept:
            outcome = made(RUNS[name], kept)
        text = getattr(log_formats, RUNS[name].log)(read_off(outcome.history))
        (Path(folder) / f"{name}.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
        told[name] = dict(
            words=RUNS[name].words,
            took=bool(RUNS[name].kind.took(outcome)),
            greedy_trained=[outcome.before, outcome.after],
            greedy_others=[outcome.others_before, outcome.others_after],
        )
        notes.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        print(f"made {name} in {time.time() - began:.0f} s", flush=True)


def count(folder):
    """Prints what is said of each run beside what is true, and how many are right."""
    told = json.loads((Path(folder) / "runs.json").read_text(encoding="utf-8"))
    counted = {}
    for name, one in told.items():
        text = gzip.decompress((Path(folder) / f"{name}.gz").read_bytes()).decode()
        names, verdict = said(text)
        what = judged(RUNS[name].kind, names) if one["took"] else "the fault did not take"
        counted[what] = counted.get(what, 0) + 1
        print(f"{name:20} {what:8} {one['words']}: {verdict}")
    print(", ".join(f"{number} {what}" for what, number in counted.items()))


if __name__ == "__main__":
    if sys.argv[1] == "count":
        count(sys.argv[2])
    else:
        main(sys.argv[1], sys.argv[2:])
