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
