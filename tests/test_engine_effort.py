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


def fits(lines: int, calls: list[str]) -> list[str]:
    """What is said of a function that jits a local one and does much besides, called that way."""
    source = [
        "import jax",
        "",
        "def fit(x, size, total):",
        "    @jax.jit",
        "    def run(x):",
        "        return x * size",
        "",
    ]
    source += ["    x = run(x)", *["    total = total + 1.0"] * lines, "    return x", "", *calls, ""]
    return [f.message.rpartition(": ")[2] for f in jitlint.check_source("\n".join(source), select=["JIT302"]).findings]


def test_counts_are_exact_only_where_no_call_was_left_out() -> None:
    turn_by_turn = ["for size in range(2, 5):", "    for start in range(10):", "        fit(start * 0.1, size, 0.0)"]
    assert fits(1, turn_by_turn) == ["exactly 30 compilations"]
    assert fits(1000, turn_by_turn) == ["at least 10 compilations"]
    maybe = [
        "import sys",
        *turn_by_turn[:2],
        "        if len(sys.argv) > 2:",
        "            fit(start * 0.1, size, 0.0)",
    ]
    assert fits(1000, maybe) == ["about 10 compilations"]


def test_a_turn_that_is_left_out_counts_where_another_stood_for_it() -> None:
    assert fits(1000, ["for start in range(100):", "    fit(start * 0.1, 2, 0.0)"]) == ["exactly 100 compilations"]


def test_the_rest_of_what_takes_too_long_may_make_more() -> None:
    much = [*["    total = total + 1.0"] * LINES * 3]
    main = ["def main(total):", "    for size in range(4):", "        fit(0.5, size, 0.0)", *much, "main(0.0)"]
    assert fits(1, main) == ["at least 4 compilations"]


def test_calls_that_recurse_may_make_more() -> None:
    """Beyond the second one inside another."""
    jits = "f = jax.jit(lambda y: y + n)"
    source = f"import jax\n\ndef solve(n, x):\n    if n == 0:\n        return x\n    {jits}\n    return solve(n - 1, f(x))\n\n"
    (found,) = jitlint.check_source(source + "solve(10, 1.0)\n", select=["JIT302"]).findings
    assert found.message.endswith("at least 2 compilations")
