"""Checkpoint: all that an iteration takes over from those before it, as bytes and back, to the last bit.

Weights, both moments of the optimizer, the critic, the versions, the weights that are still on their way to the
rollout, and the state of the one generator that draws prompts, tokens and mini-batches. The reference and the task are
made again, and the configuration says of what. What a checkpoint has to hold to be one, after Chandy and Lamport
(1985), doi.org/10.1145/214451.214456: a state in which no message is under way, here between two iterations.
"""

import hashlib
import io
import json
from zipfile import BadZipFile

import numpy as np

KIND = b"rl-post-training checkpoint 2 "


class Refused(ValueError):
    """One sentence: why no run goes on from this."""


def state(controller):
    """What `restore` wants, of a controller between two iterations."""
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
    """Puts a fresh controller of the same configuration where `state` was taken."""
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
    """Bytes of a tree of dicts, lists, numbers, texts and arrays, with a check sum before them."""
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
    """The tree that was packed; Refused where it is cut off, damaged or of another configuration."""
    head, _, body = data.partition(b"\n")
    if not head.startswith(KIND):
        raise Refused("it is no checkpoint of this program")
    if head != KIND + digest(body):
        raise Refused("it is cut off or damaged: its check sum is another one")
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as stored:
            state = json.loads(stored["text"].tobytes())
            arrays = [stored[f"arr_{i}"] for i in range(len(stored.files) - 1)]
    except (BadZipFile, ValueError, KeyError):
        raise Refused("it is no checkpoint of this program") from None
    other = [name for name in configuration if state["configuration"].get(name) != configuration[name]]
    if other:
        was, now = (
            ", ".join(f"{name} {'not set' if kept.get(name) is None else kept[name]}" for name in other)
            for kept in (state["configuration"], configuration)
        )
        raise Refused(f"it is of a run with {was}, and this one has {now}")

    def whole(node):
        if isinstance(node, dict):
            return arrays[node["array"]] if node.keys() == {"array"} else {n: whole(each) for n, each in node.items()}
        return [whole(each) for each in node] if isinstance(node, list) else node

    return whole(state["tree"])


def digest(data):
    return hashlib.sha256(data).hexdigest().encode()


def fingerprint(params):
    """Of weights, to tell one start from another: eight hexadecimal digits."""
    whole = b"".join(name.encode() + np.ascontiguousarray(params[name]).tobytes() for name in sorted(params))
    return hashlib.sha256(whole).hexdigest()[:8]
