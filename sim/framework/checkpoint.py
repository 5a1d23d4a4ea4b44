"""Checkpoint: everything that an iteration inherits from earlier ones, as bytes and back, exact to the last bit.

It contains the weights, both moments of the optimizer, the critic, the versions, the weights that are still in transit
to the rollout, and the state of the one generator that draws prompts, tokens and mini-batches. The reference and the
task are built again from the configuration. A consistent checkpoint is a state in which no message is in transit
(Chandy and Lamport (1985), doi.org/10.1145/214451.214456); here that is the moment between two iterations.
"""

import hashlib
import io
import json
from zipfile import BadZipFile

import numpy as np

KIND = b"rl-post-training checkpoint 2 "


class Refused(ValueError):
    """The message says in one sentence why a run cannot resume from this checkpoint."""


def state(controller):
    """The state that `restore` expects, taken from a controller between two iterations."""
    trainer, rollout, sync, critic = controller.trainer, controller.rollout, controller.sync, controller.critic
    return dict(
        trainer=dict(params=trainer.policy.params, version=trainer.version, optimizer=trainer.optimizer.state_dict()),
        rollout=dict(params=rollout.policy.params, version=rollout.version),
        sync=dict(kept=[list(pushed) for pushed in sync.kept], pushes=sync.pushes),
        critic=critic and critic.state_dict(),
        rng=controller.rng.bit_generator.state,
        completions=controller.completions,
    )


def restore(controller, state):
    """Brings a fresh controller with the same configuration to where `state` was taken."""
    trainer, rollout, sync = controller.trainer, controller.rollout, controller.sync
    trainer.policy.params, trainer.version = dict(state["trainer"]["params"]), state["trainer"]["version"]
    trainer.optimizer.load_state_dict(state["trainer"]["optimizer"])
    rollout.load(**state["rollout"])
    sync.kept.extend((params, version) for params, version in state["sync"]["kept"])
    sync.pushes = state["sync"]["pushes"]
    if controller.critic:
        controller.critic.load_state_dict(state["critic"])
    controller.rng.bit_generator.state = state["rng"]
    controller.completions = state["completions"]


def packed(tree, configuration):
    """A tree of dicts, lists, numbers, strings and arrays as bytes, preceded by a checksum."""
    arrays = []

    def plain(node):
        if isinstance(node, np.ndarray):
            arrays.append(node)
            return {"array": len(arrays) - 1}
        if isinstance(node, dict):
            return {name: plain(each) for name, each in node.items()}
        return [plain(each) for each in node] if isinstance(node, list | tuple) else node

    text = json.dumps(dict(configuration=configuration, tree=plain(tree)))
    body = io.BytesIO()
    np.savez(body, *arrays, text=np.frombuffer(text.encode(), np.uint8))
    return KIND + digest(body.getvalue()) + b"\n" + body.getvalue()


def unpacked(data, configuration):
    """The tree that was packed; Refused if the data is truncated, damaged or from a different configuration."""
    head, _, body = data.partition(b"\n")
    if not head.startswith(KIND):
        raise Refused("it is not a checkpoint of this program")
    if head != KIND + digest(body):
        raise Refused("it is cut off or damaged, because its checksum does not match")
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as stored:
            state = json.loads(stored["text"].tobytes())
            arrays = [stored[f"arr_{i}"] for i in range(len(stored.files) - 1)]
    except (BadZipFile, ValueError, KeyError):
        raise Refused("it is not a checkpoint of this program") from None
    other = [name for name in configuration if state["configuration"].get(name) != configuration[name]]
    if other:
        was, now = (
            ", ".join(f"{name} {'not set' if kept.get(name) is None else kept[name]}" for name in other)
            for kept in (state["configuration"], configuration)
        )
        raise Refused(f"it is from a run with {was}, but this run has {now}")

    def whole(node):
        if isinstance(node, dict):
            return arrays[node["array"]] if node.keys() == {"array"} else {n: whole(each) for n, each in node.items()}
        return [whole(each) for each in node] if isinstance(node, list) else node

    return whole(state["tree"])


def digest(data):
    return hashlib.sha256(data).hexdigest().encode()


def fingerprint(params):
    """Eight hexadecimal digits that identify a set of weights, to tell one start from another."""
    whole = b"".join(name.encode() + np.ascontiguousarray(params[name]).tobytes() for name in sorted(params))
    return hashlib.sha256(whole).hexdigest()[:8]
