"""Bytes and seconds of what one training step moves: weights, experience, texts of the environment, collectives.

Closed form: bytes over the links that they cross, and which part is hidden behind work. Full sharding follows ZeRO
(Rajbhandari et al., 2019, arXiv:1910.02054); which path crosses which wire follows HybridFlow (Sheng et al., 2024,
arXiv:2409.19256). The division into four paths is this book's. Latencies, congestion, a reference pass's gathering, and
casting and loading around a transfer are left out, so every time is a lower bound.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import NamedTuple

from sim.cluster import fabric, memory, step, topology
from sim.cluster.models import Model
from sim.cluster.topology import ASYNC, COLOCATED, SPLIT

WAYS = (COLOCATED, SPLIT, ASYNC)
SCHEDULES = FUNNEL, BROADCAST, DIRECT = ("one sender", "broadcast", "shard to shard")
ROUTES = STRAIGHT, CONTROLLER = ("from GPU to GPU", "through the controller")
PAYLOADS = PLAIN, ROUTED, TOP, FULL = ("ids and log-probs", "and routed experts", "and 20 logits", "and all logits")
TOP_LOGITS = 20
TEXT_BYTES = 4  # bytes of a token as text, about four letters of English
CONTROLLER_BYTES_PER_SECOND = 10e9  # assumed: what one process can receive and pass on
FRONT_BYTES_PER_SECOND = 10e9  # assumed: the network between engines and sandboxes
MICRO_BATCH = 32768  # assumed: tokens that one GPU processes at a time

WEIGHTS, EXPERIENCE, ENVIRONMENT, TRAINER, ENGINES = (
    "weights",
    "experience",
    "environment",
    "inside the trainer",
    "inside the engines",
)


# Bytes


def weights_bytes(model: Model, replicas: int, weight_bytes: float = 2) -> float:
    """All weights, once per engine replica."""
    return model.params() * weight_bytes * replicas


def token_fields(model: Model, payload: str = PLAIN) -> dict[str, int]:
    """{field: bytes} sent per token of a completion. Rollout Routing Replay also sends the experts that each layer
    chose (Ma et al., 2025, arXiv:2510.11370).
    """
    out = {"token id": 4, "log-prob when sampled": 4, "mask": 1, "advantage": 4, "reference's log-prob": 4}
    if payload == ROUTED and model.moe:
        number = 1 if model.moe.experts <= 256 else 2
        out["routed experts"] = model.moe_layers * model.moe.top_k * number
    if payload == TOP:
        out["20 best logits"] = TOP_LOGITS * (4 + 2)  # an id and a bf16 number each
    if payload == FULL:
        out["all logits"] = 2 * model.vocab
    return out


def token_bytes(model: Model, payload: str = PLAIN) -> int:
    """Bytes sent per token of a completion."""
    return sum(token_fields(model, payload).values())


def experience_bytes(model: Model, completions: int, prompt: int, length: float, payload: str = PLAIN) -> float:
    """Bytes sent from the engines to the trainer: the prompts' ids and the fields of each token."""
    return completions * (4 * prompt + length * token_bytes(model, payload))


def environment_bytes(completions: int, prompt: int, length: float, turns: int = 1, sessions: bool = True) -> float:
    """Bytes of text between the engines and the environment. A session remembers what it was told; without one, each
    turn sends the whole text so far, P + L t/T at turn t of T.
    """
    tokens = prompt + length if sessions else turns * prompt + length * (turns + 1) / 2
    return TEXT_BYTES * completions * tokens


def environment_messages(completions: int, turns: int = 1) -> int:
    """One request and one answer per turn."""
    return 2 * completions * turns


def sharded_bytes(model: Model, gpus: int, micro_steps: int, grad_bytes: float = 4) -> float:
    """What each GPU of a fully sharded trainer sends in one update, (2·2P + gP) s (G − 1)/G: in each of s micro-steps
    it gathers the bf16 weights for the forward pass and again for the backward pass, and scatters gradients of g bytes.
    """
    return (2 * 2 + grad_bytes) * model.params() * micro_steps * (gpus - 1) / gpus


def split_bytes(model: Model, tensor_parallel: int) -> float:
    """What each GPU of an engine sends per token: two all-reduces per layer of the hidden state in bf16, 2(n − 1)/n of
    it each.
    """
    n = tensor_parallel
    return 2 * model.layers * 2 * (n - 1) / n * model.hidden * 2


# Seconds of a weight sync


def sync_bytes_per_second(schedule: str, nic: float, replicas: int, training: int, tensor_parallel: int) -> float:
    """The rate at which copies of the weights are delivered, in bytes per second; `nic` is that of one card.

    A single sender serves one replica after another. A broadcast is passed on while it arrives, so it takes one pass.
    From shard to shard, all cards of the trainer send and all those of an engine receive.
    """
    return {FUNNEL: nic / replicas, BROADCAST: nic, DIRECT: min(training * nic / replicas, tensor_parallel * nic)}[
        schedule
    ]


def sync_seconds(
    model: Model, schedule: str, nic: float, replicas: int, training: int, tensor_parallel: int, weight_bytes: float = 2
) -> float:
    """Seconds to bring the weights to all replicas."""
    rate = sync_bytes_per_second(schedule, nic, replicas, training, tensor_parallel)
    return fabric.weight_sync(model, rate, weight_bytes)


# One step


@dataclass(frozen=True)
class Setting:
    """A job, and how its parts are connected."""

    job: topology.Job
    way: str = SPLIT
    generating: int = 64  # GPUs, where the pools are split
    schedule: str = DIRECT
    weight_bytes: float = 2  # width in the engine, and so on the wire
    payload: str = PLAIN
    route: str = STRAIGHT
    turns: int = 1
    sessions: bool = True
    micro_batch: int = MICRO_BATCH
    controller_bytes_per_second: float = CONTROLLER_BYTES_PER_SECOND
    front_bytes_per_second: float = FRONT_BYTES_PER_SECOND

    @property
    def rollout_gpus(self) -> int:
        return self.job.gpus if self.way == COLOCATED else self.generating

    @property
    def train_gpus(self) -> int:
        return self.job.gpus if self.way == COLOCATED else self.job.gpus - self.generating

    @property
    def replicas(self) -> int:
        return self.job.engines(self.rollout_gpus)

    @property
    def tokens(self) -> float:
        """Prompts and completions of a step, as the trainer sees them."""
        return self.job.completions * (self.job.prompt + self.job.law.mean)

    @property
    def generated(self) -> float:
        """Tokens that pass through the engines: completions, and each prompt once."""
        return self.job.completions * self.job.law.mean + self.job.prompts * self.job.prompt

    @property
    def micro_steps(self) -> int:
        return ceil(self.tokens / (self.train_gpus * self.micro_batch))


class Path(NamedTuple):
    """What one path moves in one step."""

    name: str
    bytes: float
    seconds: float  # seconds on its links
    exposed: float  # exposed seconds: by how much this path lengthens the step
    link: str


@dataclass(frozen=True)
class Report:
    paths: dict[str, Path]  # by name
    roles: step.Roles  # seconds of work without any path
    seconds: float  # of the step
    work: float  # seconds of the step if nothing had to travel
    messages: int  # to and from the environment

    @property
    def updates_a_day(self) -> float:
        return 86400 / self.seconds

    @property
    def messages_per_second(self) -> float:
        return self.messages / self.seconds

    @property
    def waiting(self) -> float:
        """Fraction of the step spent on moving data."""
        return 1 - self.work / self.seconds

    def share(self, name: str) -> float:
        """Fraction of the step that this path alone costs."""
        return self.paths[name].exposed / self.seconds

    @property
    def largest(self) -> str:
        """The path that costs the largest part of the step."""
        return max(self.paths, key=self.share)


def report(setting: Setting) -> Report:
    """The Report of each path's bytes, seconds and exposed seconds, and of the resulting step.

    A synchronous step is a sum; a stream is as long as the longest of its lanes (`step.LANES`). A trainer cannot begin
    before its batch has arrived, so experience belongs to the training lane. Gathering overlaps the arithmetic of the
    update, so only the excess counts; all-reduces are inside the engines' iterations.
    """
    working, sizes, links = worked(setting), path_bytes(setting), link_names(setting)
    took = {
        WEIGHTS: weights_seconds(setting),
        EXPERIENCE: experience_seconds(setting),
        ENVIRONMENT: environment_seconds(setting),
        TRAINER: trainer_seconds(setting),
        ENGINES: engines_seconds(setting),
    }
    seconds = step_seconds(setting, working, took)
    exposed = {name: seconds - step_seconds(setting, working, took | {name: 0.0}) for name in took}
    paths = {name: Path(name, sizes[name], took[name], exposed[name], links[name]) for name in took}
    messages = environment_messages(setting.job.completions, setting.turns)
    work = step_seconds(setting, working, dict.fromkeys(took, 0.0))
    return Report(paths, working, seconds, work, messages)


def step_seconds(setting: Setting, working: step.Roles, took: Mapping[str, float]) -> float:
    """Seconds of a step whose roles work for `working` and whose paths take {name: seconds}."""
    colocated = setting.way == COLOCATED
    roles = replace(
        working,
        verify=took[ENVIRONMENT],
        train=max(working.train, took[TRAINER]) + took[EXPERIENCE],
        sync=0.0 if colocated else took[WEIGHTS],
        switch=took[WEIGHTS] if colocated else 0.0,
    )
    return float(step.step_time(roles, "async" if setting.way == ASYNC else "sync"))


GENERATE, TRAIN = "generate", "train"  # the work, between the paths


def laid(setting: Setting, report: Report) -> dict[str, tuple[float, float]]:
    """{what: (start, seconds)} in one step, for the work and for each path except the engines', which is inside their
    work.

    The trainer computes the reference's log-probs before its update, during which it gathers. In a stream, generation,
    training, texts and weights run side by side.
    """
    took, roles = {name: path.seconds for name, path in report.paths.items()}, report.roles
    side_by_side = setting.way == ASYNC
    clock, spans = 0.0, {}

    def place(name: str, seconds: float) -> None:
        nonlocal clock
        spans[name] = (clock, seconds)
        clock += seconds

    def stays() -> float:
        return 0.0 if side_by_side else clock

    place(GENERATE, step.seconds(roles, "rollout", "async" if side_by_side else "sync"))
    clock = stays()
    place(ENVIRONMENT, took[ENVIRONMENT])
    clock = stays()
    place(EXPERIENCE, took[EXPERIENCE])
    spans[TRAINER] = (clock + roles.log_probs, took[TRAINER])
    place(TRAIN, roles.log_probs + max(roles.train, took[TRAINER]))
    clock = stays()
    place(WEIGHTS, took[WEIGHTS])
    return spans


def worked(setting: Setting) -> step.Roles:
    """Seconds of the roles without any path: the sampling log-prob is sent along, so only the reference's is
    computed.
    """
    job = setting.job
    return step.roles_from_config(
        job.model,
        job.accelerator,
        setting.rollout_gpus,
        setting.train_gpus,
        job.tensor_parallel,
        job.completions,
        job.law,
        0.0,
        reuse=True,
        efficiency=job.efficiency,
        mfu=job.mfu,
        prompt=job.prompt,
        group=job.samples,
        engine=memory.Engine(weight_bytes=setting.weight_bytes),
    )


def path_bytes(setting: Setting) -> dict[str, float]:
    """{name: bytes in one step}, over all links of a path."""
    job, length = setting.job, setting.job.law.mean
    of = (job.completions, job.prompt, length)
    inside = sharded_bytes(job.model, setting.train_gpus, setting.micro_steps)
    return {
        WEIGHTS: weights_bytes(job.model, setting.replicas, setting.weight_bytes),
        EXPERIENCE: experience_bytes(job.model, *of, setting.payload),
        ENVIRONMENT: environment_bytes(*of, setting.turns, setting.sessions),
        TRAINER: inside * setting.train_gpus,
        ENGINES: split_bytes(job.model, job.tensor_parallel) * setting.generated * job.tensor_parallel,
    }


def nic(setting: Setting) -> float:
    return 1e9 * setting.job.accelerator.nic_gb_per_second


def weights_seconds(setting: Setting) -> float:
    """Over the cards of both pools or, in one pool, from the trainer's layout to the engine's."""
    job = setting.job
    if setting.way == COLOCATED:
        return topology.switch_seconds(job)
    cards = nic(setting), setting.replicas, setting.train_gpus, job.tensor_parallel
    return sync_seconds(job.model, setting.schedule, *cards, setting.weight_bytes)


def experience_seconds(setting: Setting) -> float:
    """Over the trainer's cards, or through a single process."""
    straight = setting.route == STRAIGHT
    rate = setting.train_gpus * nic(setting) if straight else setting.controller_bytes_per_second
    return path_bytes(setting)[EXPERIENCE] / rate


def environment_seconds(setting: Setting) -> float:
    return path_bytes(setting)[ENVIRONMENT] / setting.front_bytes_per_second


def trainer_seconds(setting: Setting) -> float:
    """Each GPU's gathering and scattering, in rings over all of them."""
    gpus = setting.train_gpus
    rate = setting.job.accelerator.ring_bytes_per_second(gpus)
    return sharded_bytes(setting.job.model, gpus, setting.micro_steps) / rate


def engines_seconds(setting: Setting) -> float:
    """Each GPU's part of the all-reduces at the full rate of its links. `throughput.iteration` includes them with their
    start-up times, so they are inside the rollout's seconds.
    """
    job = setting.job
    sent = split_bytes(job.model, job.tensor_parallel) * setting.generated / setting.replicas
    return sent / job.accelerator.ring_bytes_per_second(job.tensor_parallel)


def link_names(setting: Setting) -> dict[str, str]:
    def inside(n: int) -> str:
        return "scale-up links" if n <= setting.job.accelerator.scaleup_domain else "rings over all cards"

    return {
        WEIGHTS: "host and scale-up links" if setting.way == COLOCATED else "network cards",
        EXPERIENCE: "network cards" if setting.route == STRAIGHT else "one process",
        ENVIRONMENT: "front-end network",
        TRAINER: inside(setting.train_gpus),
        ENGINES: inside(setting.job.tensor_parallel),
    }
