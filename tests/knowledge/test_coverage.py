"""No public name of the jax libraries is without a row, save those listed here with the reason."""

from __future__ import annotations

import importlib
import inspect

import pytest

jax = pytest.importorskip("jax")

from jitlint.knowledge import load  # noqa: E402
from tests.knowledge.test_rows import TESTED  # noqa: E402

KNOWLEDGE = load()
WITHOUT = {
    "jax.numpy.fromfile": "raises NotImplementedError always",
    "jax.numpy.fromiter": "raises NotImplementedError always",
    "numpy.test": "numpy's own tests",
    "numpy.linalg.test": "numpy's own tests",
    "numpy.fft.test": "numpy's own tests",
    "numpy.random.test": "numpy's own tests",
}
MODULES = (
    "jax",
    "jax.numpy",
    "jax.numpy.linalg",
    "jax.numpy.fft",
    "jax.lax",
    "jax.random",
    "jax.nn",
    "jax.nn.initializers",
    "jax.tree",
    "jax.tree_util",
    "jax.debug",
    "jax.ops",
    "jax.image",
    "jax.scipy.special",
    "jax.scipy.linalg",
    "jax.scipy.signal",
    "jax.scipy.stats",
    "numpy",
    "numpy.linalg",
    "numpy.fft",
    "numpy.random",
)


@pytest.mark.skipif(jax.__version__ != TESTED, reason=f"the rows were read off jax {TESTED}")
@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_known(module: str) -> None:
    home = importlib.import_module(module)
    missing = []
    for name in dir(home):
        dotted = f"{module}.{name}"
        found = getattr(home, name)
        if name.startswith("_") or inspect.ismodule(found) or name.endswith("_p") or dotted in WITHOUT:
            continue
        model = KNOWLEDGE.function(dotted)
        known = model is not None and model.documented
        if not known and KNOWLEDGE.class_(dotted) is None and KNOWLEDGE.constant(dotted) is None:
            missing.append(dotted)
    assert not missing
