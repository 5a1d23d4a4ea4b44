"""Completions with several turns: which of their tokens are trained, decoded and read, and what an engine serves in a
steady state.

Closed form: sessions of equal length whose turns are out of phase, so that an engine always has the same number of them
decoding. Little's law (1961) relates the number alive, the lifetime, and the number that end per second. Left out: that
turns come in bursts, and that a tool's seconds vary.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sim.cluster import layouts, memory, step
from sim.cluster.hardware import Accelerator
from sim.cluster.lengths import Law
from sim.cluster.models import Model, Numbers
from sim.cluster.throughput import Efficiency

HALVINGS = 12
FOLLOWED = 512  # sessions per engine that are followed one by one to the last
HOST_LINK = 0.8  # assumed: fraction of the host link's bandwidth that moved caches reach

REUSES = ("hold", "drop", "offload")  # what happens to a session's cache while its tool runs
HOLD, DROP, OFFLOAD = REUSES


@dataclass(frozen=True)
class Session:
    turns: int
    generated: float  # tokens that the model writes per turn
    returned: float  # tokens that the tool answers between two turns
    tool_seconds: float  # between two turns
    prompt: float
    siblings: int = 1  # sessions per prompt, which an engine reads once
    reuse: str = HOLD

    @property
    def trained(self) -> float:
        """Tokens that pass through the trainer: the prompt and both sides of every turn except the last answer."""
        return self.prompt + self.written + (self.turns - 1) * self.returned

    @property
    def written(self) -> float:
        """Tokens that carry a loss."""
        return self.turns * self.generated

    @property
    def context(self) -> float:
        """Mean number of tokens before a decoded token."""
        return self.prompt + (self.turns - 1) * (self.generated + self.returned) / 2 + self.generated / 2

    @property
    def read(self) -> float:
        """Tokens of prompts that an engine reads per session: its share of the prompt and what tools return; a dropped
        cache is computed again at each turn.
        """
        once = self.prompt / self.siblings + (self.turns - 1) * self.returned
        if self.reuse != DROP:
            return once
        later = self.turns - 1
        return (
            self.prompt / self.siblings
            + later * self.prompt
            + (self.generated + self.returned) * later * self.turns / 2
        )

    @property
    def moved(self) -> float:
        """Tokens per session whose cache moves to the host's memory and back."""
        if self.reuse != OFFLOAD:
            return 0.0
        later = self.turns - 1
        return later * self.prompt + (self.generated + self.returned) * later * self.turns / 2


class Steady(NamedTuple):
    """One engine in its steady state."""

    decoding: float  # sessions that are decoding
    alive: float  # sessions that have begun and not ended
    session_seconds: float
    sessions_per_second: float
    reading: float  # fraction of the engine's seconds spent on prompts
    moving: float  # and on moving cache back from the host


def steady(
    session: Session,
    pass_seconds: Callable[[float], Numbers],
    token_seconds: float,
    room: float,
    bound: float,
    moved_seconds: float = 0.0,
) -> Steady:
    """The largest number of sessions that can decode together, found by bisection.

    `pass_seconds(n)`: one token for each of n sessions. `token_seconds`: to read one token of a prompt.
    `moved_seconds`: to bring one token's cache back from the host. `room`: sequences that the cache holds. `bound`:
    maximum sessions alive. A held cache counts while its tool runs; others do not.
    """

    def at(decoding: float) -> Steady:
        # while a session is active, each of the others is read in once, too
        reading = decoding * session.read * token_seconds
        moving = decoding * session.moved * moved_seconds
        active = session.written * float(pass_seconds(decoding)) + reading + moving
        life = active + (session.turns - 1) * session.tool_seconds
        ended = decoding / active
        return Steady(decoding, ended * life, life, ended, reading / active, moving / active)

    def allowed(decoding: float) -> bool:
        state = at(decoding)
        held = state.alive if session.reuse == HOLD else decoding
        return state.alive <= bound and held <= room

    low, high = 0.0, max(min(room, bound), 1e-6)
    if allowed(high):
        return at(high)
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if allowed(middle) else (low, middle)
        if high < 1e-6:
            break
    return at(max(low, 1e-6))


# A step of sessions


@dataclass(frozen=True)
class Service:
    """One engine, laid out, that serves sessions of one kind: what each costs it."""

    model: Model
    accelerator: Accelerator
    engine: memory.Engine  # one replica
    efficiency: Efficiency
    session: Session

    def iteration(self, decoding: Numbers, kv_tokens: Numbers, read: Numbers = 0, before: Numbers = 0) -> Numbers:
        """Seconds of a pass: one token for each decoding session, and this many tokens of prompts."""
        layout, engine = layouts.layout_of(self.engine), self.engine
        widths = engine.weight_bytes, engine.kv_bytes, self.efficiency
        return layouts.engine_pass(
            self.model, self.accelerator, layout, decoding, kv_tokens, read, before, *widths
        ).seconds

    @property
    def token_seconds(self) -> float:
        """To read one token of a prompt, many at a time."""
        return float(self.iteration(0, 0, step.PREFILL, self.session.context / 2)) / step.PREFILL

    @property
    def moved_seconds(self) -> float:
        """To bring one token's cache from the host, over the links of the GPUs that hold it."""
        if self.session.reuse != OFFLOAD:
            return 0.0
        context, link = self.session.context, 1e9 * (self.accelerator.host_gb_per_second or float("nan"))
        return memory.cache_bytes(self.model, context, self.engine) / context / (HOST_LINK * link)

    def state(self, context: float, room: float, bound: float) -> Steady:
        """With a mean of `context` tokens before a decoded token, and a cache with room for `room`."""

        def pass_seconds(n: Numbers) -> Numbers:
            return self.iteration(n, n * context)

        return steady(self.session, pass_seconds, self.token_seconds, room, bound, self.moved_seconds)

    def token_of_each(self, alive: Numbers, kv_tokens: Numbers) -> Numbers:
        """Mean seconds in which each of those alive writes one token, including its reading and its tools' time. The
        number decoding is found by bisection on its logarithm, and then on a line.
        """
        one, context = self.session, kv_tokens / np.maximum(alive, 1e-9)
        each = one.read * self.token_seconds + one.moved * self.moved_seconds
        tools = (one.turns - 1) * one.tool_seconds

        def active(n: Numbers) -> Numbers:
            return one.written * self.iteration(n, n * context) + n * each

        def beyond(n: Numbers) -> Numbers:
            return np.log(n * (1 + tools / active(n)) / alive)

        high = np.log(alive)
        alone = active(1e-9 * np.exp(high))
        low = high + np.log(alone / (alone + tools))  # more are decoding than if each had the engine to itself
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            fewer = beyond(np.exp(middle)) < 0
            low, high = np.where(fewer, middle, low), np.where(fewer, high, middle)
        short, long = beyond(np.exp(low)), beyond(np.exp(high))
        decoding = np.exp(low - (high - low) * short / np.maximum(long - short, 1e-300))
        return (active(decoding) + tools) / one.written


@lru_cache(maxsize=512)  # as step.generation_seconds
def generation_seconds(
    model: Model,
    accelerator: Accelerator,
    gpus: int,
    completions: float,
    law: Law,
    efficiency: Efficiency,
    engine: memory.Engine,
    session: Session,
    room: float,
    alive: float,
) -> tuple[float, float]:
    """(until the last session of a step is done, for its share of a steady stream). `law`: what the model writes in a
    session; `room`: sequences that one engine's cache holds; `alive`: maximum sessions at once.
    """
    served = Service(model, accelerator, engine, efficiency, session)
    engines, before = gpus // engine.size, session.prompt + (session.turns - 1) * session.returned / 2
    live = min(completions / engines, alive)
    stream = completions / engines / served.state(law.context(before), room, live).sessions_per_second
    drained = law, completions, engines, alive, before
    last = step.until_the_last(*drained, served.token_of_each, FOLLOWED)
    tools = (session.turns - 1) * session.tool_seconds
    if tools:
        # a pass spreads tools over tokens, and a long session calls no more of them than a short one
        without = replace(served, session=replace(session, tool_seconds=0.0))
        last = min(last, step.until_the_last(*drained, without.token_of_each, FOLLOWED) + tools)
    return last, stream
