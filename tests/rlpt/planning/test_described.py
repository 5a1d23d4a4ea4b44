"""What a program does with what is not said, by the sources of its release."""

import pytest

from rlpt.planning.described import described_by, of_small_jobs
from sim.cluster import memory
from sim.cluster.envelope import PLACEMENTS

VERL, OPENRLHF = "python -m verl.trainer.main_ppo", "python -m openrlhf.cli.train_ppo_ray"
OFFLOADED, RESIDENT, APART = PLACEMENTS


def test_verl_by_its_defaults_has_a_critic_eight_gpus_and_keeps_its_state_there():
    job = described_by(VERL)  # trainer/config/ppo_trainer.yaml, rollout/rollout.yaml, actor/dp_actor.yaml
    assert (job.gpus, job.placement, job.training.critic, job.training.reference) == (8, RESIDENT, True, False)
    assert (job.engine.tensor_parallel, job.engine.hbm_share) == (2, 0.5)
    assert (job.training.tokens, job.training.recompute, job.training.logits_chunk) == (16384, "full", None)
    assert job.training.ledger.whole == memory.ZERO_PAPER.whole == 16  # fp32 shards: 4 + 4 + 8


@pytest.mark.parametrize(
    "more, placement",
    [
        ("actor_rollout_ref.actor.fsdp_config.param_offload=True", RESIDENT),
        (
            "actor_rollout_ref.actor.fsdp_config.param_offload=True "
            "actor_rollout_ref.actor.fsdp_config.optimizer_offload=True",
            OFFLOADED,
        ),
        ("actor_rollout_ref.rollout.nnodes=2", RESIDENT),  # a hybrid engine stands on the trainer, too
        ("actor_rollout_ref.rollout.nnodes=2 actor_rollout_ref.hybrid_engine=False", APART),
        ("rollout.nnodes=2 actor_rollout_ref.hybrid_engine=False", APART),
    ],
)
def test_where_verl_generates(more, placement):
    job = described_by(f"{VERL} \\\n    {more}")
    assert job.placement == placement and job.gpus == (24 if placement == APART else 8)


def test_openrlhf_by_its_defaults_has_a_critic_a_reference_and_zero_2():
    job = described_by(OPENRLHF)  # cli/train_ppo_ray.py
    t = job.training
    assert (t.gpus, t.zero, t.critic, t.reference, t.recompute) == (8, 2, True, True, "selective")
    assert job.engine.hbm_share == 0.95 and job.engine.longest == t.tokens == 2048
    slept = described_by(f"{OPENRLHF} --train.colocate_all --vllm.enable_sleep --ds.enable_sleep --vllm.num_engines 8")
    assert slept.placement == OFFLOADED
    assert described_by(f"{OPENRLHF} --train.colocate_all --vllm.num_engines 8").placement == RESIDENT


def test_trl_by_its_defaults_shards_nothing_and_has_eight_sequences_at_a_time():
    text = """# accelerate launch --num_machines 1 --num_processes 8
GRPOConfig(
    use_vllm=True, vllm_mode="colocate",
    vllm_max_model_length=1000,
)"""
    assert described_by(text.replace("launch", "launch --config_file zero3.yaml")).training.zero == 3
    job = described_by(text)  # trainer/grpo_config.py, base_config.py
    t = job.training
    assert (t.gpus, t.zero, t.reference, t.tokens, t.recompute) == (8, 0, False, 8000, "full")
    assert job.placement == RESIDENT and job.engine.hbm_share == 0.3


@pytest.mark.parametrize(
    "text, quantities",
    [
        (VERL, {}),
        (f"{VERL} actor_rollout_ref.model.lora_rank=16", dict(adapters=16)),
        (f"{VERL} actor_rollout_ref.model.lora.rank=8", dict(adapters=8)),
        (f"{VERL} actor_rollout_ref.actor.optim.optimizer=AdamW8bit", dict(optimizer_bits=8)),
        (f"{VERL} actor_rollout_ref.actor.fsdp_config.offload_policy=True", dict(offload_state="all")),
        (f"{OPENRLHF} --ds.adam_offload --ds.load_in_4bit", dict(offload_state="optimizer", base_bits=4)),
        ('GRPOConfig(\n    optim="adamw_bnb_8bit",\n)', dict(optimizer_bits=8)),
        ('peft_config = LoraConfig(r=64, lora_alpha=16)\nGRPOConfig(\n    optim="adamw_torch",\n)', dict(adapters=64)),
        ("# accelerate launch --offload_optimizer_device cpu\nGRPOConfig(\n)", dict(offload_state="optimizer")),
        ("# load_in_4bit=True, LoraConfig(r=64)\nGRPOConfig(\n)", {}),
    ],
)
def test_adapters_narrow_numbers_and_host_memory_are_read(text, quantities):
    assert of_small_jobs(text) == quantities
    assert described_by(text).training.adapters == quantities.get("adapters", 0)


def test_adapters_need_no_second_model_as_their_reference():
    # verl: ref_in_actor of ppo/v1/trainer_base.py; TRL: use_adapter in trainer/grpo_trainer.py
    lora = " actor_rollout_ref.model.lora_rank=16"
    texts = (f"{VERL} actor_rollout_ref.actor.use_kl_loss=True", "GRPOConfig(\n    beta=0.1,\n)")
    for text, adapted in zip(texts, (texts[0] + lora, f"peft_config = LoraConfig(r=16)\n{texts[1]}")):
        assert described_by(text).training.reference and not described_by(adapted).training.reference


def test_a_comment_is_no_option():
    assert described_by(f"# trainer.nnodes=9\n{VERL}").gpus == 8
    assert described_by(f"# --actor.num_nodes 9\n{OPENRLHF}").training.gpus == 8


@pytest.mark.parametrize("text", ["", "vllm serve MODEL", "# python -m verl.trainer.main_ppo"])
def test_what_starts_no_trainer_is_refused(text):
    with pytest.raises(ValueError, match="neither verl nor OpenRLHF nor TRL"):
        described_by(text)
