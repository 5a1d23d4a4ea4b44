"""The engines and trainers that "Export" writes options for: the releases whose sources were read, how each is started,
and the rows shared by both tables, rlpt/planning/options.py (machines) and rlpt/options.py. It is not a model.
"""

VERSIONS = {"vLLM": "0.33.0", "SGLang": "0.5.23", "verl": "0.9.1", "TRL": "1.16.0", "OpenRLHF": "0.11.2"}
START = {
    "vLLM": "vllm serve MODEL",
    "SGLang": "python -m sglang.launch_server --model-path MODEL",
    "verl": "python -m verl.trainer.main_ppo",
    "OpenRLHF": "python -m openrlhf.cli.train_ppo_ray",
}

# sections of verl's configuration
ROLLOUT, ACTOR, MODEL = "actor_rollout_ref.rollout", "actor_rollout_ref.actor", "actor_rollout_ref.model"
# {quantity: (what it is, {trainer: option})}, as in those tables: {} is the value, {completions} prompts times samples
BATCH = {
    "prompts": (
        "prompts per step",
        {
            "verl": "data.train_batch_size={} " + ACTOR + ".ppo_mini_batch_size={}",
            "TRL": "generation_batch_size={completions}",
            "OpenRLHF": "--rollout.batch_size {} --train.batch_size {completions}",
        },
    ),
    "samples": (
        "completions per prompt",
        {"verl": ROLLOUT + ".n={}", "TRL": "num_generations={}", "OpenRLHF": "--rollout.n_samples_per_prompt {}"},
    ),
    "completion": (
        "the longest completion",
        {
            "verl": "data.max_response_length={}",
            "TRL": "max_completion_length={}",
            "OpenRLHF": "--rollout.max_new_tokens {}",
        },
    ),
}
