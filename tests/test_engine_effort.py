"""Functions that are longer than what is run of one function."""

import jitlint

LINES = 5000


def program(lines: int) -> str:
    """A function that jits another one, does much, and calls it at last without its flag."""
    return "\n".join(
        [
            "import jax",
            "",
            "def step(x, debug: bool = False):",
            "    if debug:",
            "        print(x)",
            "    return x if x.sum() > 0 else -x",
            "",
            "def simulate(start, total):",
            "    run = jax.jit(step)",
            *["    total = total + 1.0"] * lines,
            "    return run(start) + total",
            "",
        ]
    )


def test_calls_that_were_not_reached_may_leave_parameters_out() -> None:
    for lines in (1, LINES):
        report = jitlint.check_source(program(lines))
        assert not report.internal_errors
        assert [f.code for f in report.findings] == ["JIT101"], lines


def test_what_no_call_passes_is_told_where_everything_was_run() -> None:
    source = program(1).replace("return run(start) + total", "return run, total")
    codes = {f.code for f in jitlint.check_source(source).findings}
    assert {"JIT101", "JIT102"} <= codes


def test_what_every_root_runs_leaves_steps_for_what_only_one_of_them_does() -> None:
    lines = ["import jax", ""]
    for stage in range(5):
        lines += [f"def stage_{stage}(x):", *["    x = x + 1.0"] * 600, "    return x", ""]
    lines += ["def everything(x):", *[f"    x = stage_{stage}(x)" for stage in range(5)], "    return x", ""]
    lines += ["def sign(x):", "    if x > 0:", "        return x", "    return -x", ""]
    for root in range(10):
        lines += [f"def test_{root}(x):", "    x = jax.jit(everything)(x)"]
    lines += ["    return jax.jit(sign)(x)", ""]
    report = jitlint.check_source("\n".join(lines))
    assert not report.internal_errors
    assert [f.code for f in report.findings if f.severity != "info"] == ["JIT101"]


def test_a_call_that_is_left_out_may_have_waited() -> None:
    lines = ["import time", "import jax", "", "@jax.jit", "def step(x):", "    return x * 2.0", ""]
    lines += ["def wait(x):", *["    x = x + 1.0"] * 1000, "    return x.block_until_ready()", ""]
    lines += ["def bench(x):", "    wait(step(x))", "    start = time.time()", "    wait(step(x))"]
    lines += ["    return time.time() - start", ""]
    options = {"min-severity": "info"}
    assert not jitlint.check_source("\n".join(lines), select=["JIT411"], options=options).findings
    lines[-3:-2] = ["    step(x)"]
    found = jitlint.check_source("\n".join(lines), select=["JIT411"], options=options).findings
    assert [f.code for f in found] == ["JIT411"]
