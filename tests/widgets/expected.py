"""What is expected of each widget and can be no rule: for which causes its presets break, and what the scene of its
opening does not say, for that is what a reader is to find.
"""

# {widget: {preset: cause}}: all presets that break
BREAKS = {
    "agentic": {
        "No mask, long output": "imitation of the tool's text",
        "No mask, REINFORCE": "calls that die out",
        "Mask, one to the right": "a mask off by one",
    },
    "algorithm": {
        "REINFORCE, a lenient judge": "rewards that nothing compares",
        "All rewards equal": "equal rewards in every group",
        "REINFORCE, rewards + 5": "rewards that nothing compares",
    },
    "asynchrony": {
        "Rate 3, lag 16": "corrections that arrive too late",
        "Rate 12, lag 8": "one answer takes everything",
        "None older than 4": "long completions are dropped",
    },
    "bottlenecks": {
        "8 weeks, by return": "items chosen one by one",
        "fp8, batch and packing": "uncorrected samples from another policy",
        "Asynchrony after a fast sync": "work on time already hidden",
    },
    "compare": {
        "GRPO at a rate of 24": "one rate for two files",
        "GRPO at PPO's rate": "an exponential that overflows",
    },
    "controller": {
        "Forgot to sync": "rollout with the old weights",
        "Rewards off by one row": "rewards of the neighboring row",
        "old_logp recomputed": "a ratio that is always 1",
    },
    "curation": {
        "A list, eight tries each": "a list that is outdated",
        "A list, 32 tries each": "rollouts spent on tries",
        "A list of the never solved": "prompts that are never solved",
        "Until groups are live, 120,000": "live groups that are thrown away",
    },
    "dapo": {"Twice as long": "resampling that gains nothing", "AdamW": "a fix that does not pay"},
    "distillation": {
        "Answers at once": "a token that is never written",
        "Better than its teacher": "a teacher that is worse",
        "Log-ratio differentiated": "a push that ignores the teacher",
    },
    "dpo": {
        "DPO, β 0.1": "too small a KL coefficient",
        "Sure labels": "labels that are surer than people",
        "Labelers overvalue length": "labelers who overvalue length",
        "SimPO, cpo_alpha 0": "a loss without a reference",
    },
    "dr_grpo": {
        "GRPO, 2024": "a weaker push on long failures",
        "One prompt per batch": "one long completion in the divisor",
    },
    "entropy": {
        "No bonus": "certainty that comes too early",
        "Bonus of 0.5": "a bonus that pays for noise",
        "Bonus and KL penalty of 0.5": "a penalty that holds the start",
        "Prize one in 500": "too few updates for the prize",
    },
    "forces": {
        "Sixteen bytes": "too little memory for training",
        "Poor pairs, 22 bytes": "a scorer without its anchor",
        "Scorers near chance": "prompts that are left out",
    },
    "gae": {
        "λ = 0.95, 1,000 tokens": "rewards that fade on the way",
        "Two ways confused": "a wrong critic that is believed",
    },
    "gaps": {
        "A quarter of an hour": "too little time for useful lessons",
        "Kernels, the famous one first": "minutes spent on useless lessons",
    },
    "grpo": {"Hard sums, fours": "a step that is too short", "Hard sums, one group each": "too few updates"},
    "kernels": {
        "bf16, 4,096 tokens": "different rounding in sampler and trainer",
        "24 prompts at a time": "a cache that does not fit",
    },
    "kl_estimators": {
        "k1 as a loss": "the same pull on every token",
        "k3 in the reward": "a push down on fallen tokens",
        "Old samples": "samples from an older policy",
    },
    "kv_cache": {
        "Room for the longest": "room reserved and never used",
        "Twice what an H20 holds": "evicted sequences are computed again",
        "131k tokens in 30 %": "the engine cannot start",
    },
    "long_tail": {
        "12 started, 8 kept": "a race that short answers win",
        "Cap of 2,048 tokens": "a cap that drops long answers",
        "Cut off, scored wrong": "unfinished answers scored as wrong",
    },
    "memory": {
        "70B on 16": "training state fills the GPU",
        "8B, 16k tokens": "activations fill the GPU",
        "8B, 64k, all logits": "logits fill the GPU",
        "V3 on 256 H100": "weights too large for an engine",
    },
    "off_policy": {
        "Clip around the engine": "a clip around another policy",
        "Lag 8, no correction": "old answers, used as new",
        "Lag 8, whole answers, SGD": "one weight too large",
        "Lag 8, four passes": "too old for its weights",
    },
    "orientation": {
        "No weight sync": "a rollout with old weights",
        "Best of 64": "a trainer that gets no loss",
        "No reward": "an algorithm that gets no score",
    },
    "paths": {
        "All logits, through the controller": "more experience than its link carries",
        "70B, 512 short answers, one sender": "new weights that arrive too slowly",
        "30B-A3B, 2,048 tokens at a time": "gathering that outlasts the arithmetic",
    },
    "pipeline": {
        "RL from nothing": "a start that is never correct",
        "Answers after thoughts": "no thought to reinforce",
        "Borrowed pairs": "pairs that it would never write",
        "200 thoughts, 6,400 updates": "the same few thoughts too often",
        "Penalty on length": "thinking that costs more than guessing",
    },
    "plan": {
        "Selective recomputation": "activations fill the memory",
        "DeepSeek-V3 on 64 H100": "training state fills the memory",
    },
    "ppo": {"16 passes, no clip": "a rare token that takes over"},
    "process_rewards": {
        "Scores, added up": "a reward for every step",
        "1.2 off each step": "a cost for every tried step",
        "Any of 16": "lucky endings that count as proof",
    },
    "red_team": {
        "Instances patched": "a hole in both verifiers",
        "Nothing patched": "holes that nobody patches",
        "Held-out in the reward": "training on the held-out verifier",
        "Classes, most holes shared": "a hole in both verifiers",
    },
    "reinforce": {
        "Group mean": "a high baseline on solved prompts",
        "Rewards near 10": "a constant outside the rewards",
    },
    "reward_and_reference": {
        "Leaky, β of R1": "a hack that pays for itself",
        "Reference is no copy": "a reference that is no copy",
        "Hack earns less, no penalty": "training that meets the hack first",
    },
    "reward_models": {
        "Labelers overvalue length": "labelers who overvalue length",
        "30 pairs, mean of five": "each model’s own errors",
    },
    "reward_scale": {
        "One reward of 100": "one reward that dominates the batch",
        "Reward model on a scale of 30": "a source that takes the gradient",
        "Rewards times 0.01, KL penalty": "a KL penalty above the reward",
    },
    "rlaif": {
        "Strong taste": "a taste that most errors share",
        "Extreme taste": "a taste that most errors share",
        "Short list": "a list that is too short",
    },
    "rlhf": {
        "Lower KL coefficient": "a policy beyond the compared pairs",
        "Perfect reward, tiny penalty": "an optimizer that leaves one completion",
        "Controller with gain 4": "a KL coefficient that swings",
    },
    "rloo": {"16 passes": "many passes without a ratio", "Learning rate 60": "steps that are too long"},
    "rollout": {"Cold, τ 0.05": "eight equal answers", "Two temperatures": "a record of a different distribution"},
    "scheduling": {
        "48 slots, not refilled": "slots that wait for the longest",
        "Room for the longest": "reserved room that stays empty",
        "A pool of 40,000": "a pool that is too small",
        "Eight guessed, seldom right": "guesses that cost time and fail",
    },
    "search": {
        "5 blind spots per 100": "blind spots that more chains find",
        "Step noise 2": "noise that misleads the search",
        "One prefix kept": "steps spent in the wrong places",
    },
    "throughput": {
        "8 test workers": "all GPUs wait for tests",
        "A slow link": "all GPUs wait for weights",
        "Longer completions": "the inputs contradict",
    },
    "topology": {
        "28 generate": "too few trainers",
        "2 generate": "too few generators",
        "Weights by a slow wire": "both pools wait for new weights",
        "70B on single GPUs": "the job does not fit",
    },
    "trace_lab": {
        "Trick earns 1.01": "a scorer that rewards wrong answers",
        "Rate 60, 4 passes, wide clip": "first steps that go too far",
        "Rate 1.5, 1 pass, no bonus": "settling before the search is done",
        "0.15 per doubling": "a reward for length",
        "Success rates × 0.01": "groups with nothing to compare",
    },
    "trainer": {"Learning rate 0.1": "a step that is too long", "32 steps a batch": "many steps on one batch"},
    "verifier_pool": {
        "Four slots per core": "time-outs caused by load",
        "Eight cores": "time-outs caused by load",
        "Limit 4 s": "a limit that is too short",
        "Eight tries, flaky tests": "tries that reward luck",
    },
    "verifiers": {
        "Answer occurs": "a check that rewards wrong answers",
        "Exact state of a tool": "an expected answer within reach",
        "Six tenths pass by chance": "random errors that outweigh the check",
    },
    "weight_sync": {
        "Lag 8, no correction": "old samples, used as new",
        "Never delivered": "old samples that get clipped",
    },
    "what_rl_adds": {
        "Every reward + 10, no baseline": "chance, without a baseline",
        "Nothing to amplify": "a correct answer too rarely sampled",
        "A bare 12 is rewarded too": "a wrong answer that earns rewards",
    },
}

# {widget: words, as a regular expression in small letters, that no position of its opening shows}
UNSAID = {
    "asynchrony": r"\blag\b|\bold\b|\bage\b|delay|stale|late\b",
    "dapo": "again|refill|dynamic",
    "distillation": "thinks|at once|cold|reverse",
    "entropy": "bonus|entropy",
    "gae": r"λ|lambda|(?<!\[0, )0\.95\b",  # but the place [0, 0.95]
    "grpo": r"completions a prompt|sixteens|fours|\bk\b",
    "kv_cache": "reserv|longest|max length|paged",
    "long_tail": "launch|twelve|12 started|cap",
    "off_policy": "clip|ratio|engine|temperature",
    "orientation": "sync|rollout|cut",
    "paths": "controller|process|logits",
    "process_rewards": "progress|added",
    "red_team": "instance|patch",
    "reward_models": "lowest|taken out|labeler",
    "reward_scale": "paid 1|outlier",
    "rollout": "temperature|trainer|τ",
    "throughput": "test|verif|check|worker",
    "verifier_pool": "clock|wall|cpu",
    "what_rl_adds": "reward|baseline|constant|offset|paid|compare",
}
