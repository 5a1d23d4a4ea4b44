"""Another machine's last bits on this one: every policy starts a little beside its start.

Processors differ in the last bit of `exp` and of a product of matrices, in every operation of a run. One push of 1e-12
at the start moves a whole run at least as far as all these together, so what stands with it stands elsewhere. Also a
plugin: `pytest -p tests.machines.last_bit tests/lessons` runs tests under it.
"""

from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from sim.pipeline import path
from sim.worlds import modsum, policies, tasks
from tools.pages import results

PUSH = 1 + 1e-12


def pushed(policy):
    policy.params = {name: array * PUSH for name, array in policy.params.items()}
    return policy


@contextmanager
def moved():
    """Within it the starts of MODSUM, of the tiny language model and of the transformer are multiplied by PUSH, and
    what runs end with is kept apart from all other results.
    """
    checkpoint, stage, start = tasks.checkpoint, path.checkpoint, modsum.Policy.__init__
    transformer = policies.checkpoint

    def other_start(self, *arguments):
        start(self, *arguments)
        pushed(self)

    with (
        patch.object(tasks, "checkpoint", lambda name: pushed(checkpoint(name))),
        patch.object(policies, "checkpoint", lambda: pushed(transformer())),
        patch.object(path, "checkpoint", lambda name: pushed(stage(name))),
        patch.object(modsum.Policy, "__init__", other_start),
        results.apart(f"every start times {PUSH}"),
    ):
        yield


def pytest_configure(config):
    stack = ExitStack()
    stack.enter_context(moved())
    config.add_cleanup(stack.close)
