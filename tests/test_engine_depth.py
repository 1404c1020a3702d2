"""Programs whose calls nest deeply are followed, whatever the recursion limit of the Python that checks them."""

import jitlint

LEVELS = 38


def program() -> str:
    """A jitted function below many helpers, each a call inside of several blocks."""
    lines = ["import jax", ""]
    for level in range(LEVELS):
        inner = f"helper{level + 1}(x, n)" if level + 1 < LEVELS else "x if x > 0 else -x"
        lines += [
            f"def helper{level}(x, n):",
            "    for _ in [0]:",
            "        if n:",
            "            while True:",
            "                try:",
            "                    for _ in [0]:",
            "                        if n:",
            "                            for _ in [0]:",
            "                                if n:",
            f"                                    return [{{0: ({inner})}}][0][0]",
            "                finally:",
            "                    n = n + 1",
            "    return x",
            "",
        ]
    lines += ["@jax.jit", "def entry(x):", "    return helper0(x, 3)", "", "entry(1.0)"]
    return "\n".join(lines) + "\n"


def test_deep_calls_are_followed() -> None:
    report = jitlint.check_source(program())
    assert not report.internal_errors
    assert [finding.code for finding in report.findings] == ["JIT101"]
