"""Every fixture: JAX does what its marks say, jitlint finds what they say, and ``--fix`` makes what lies beside it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.judge.findings_verdict import finding_complaints
from tests.judge.fixtures import FIXTURES, SAFE, UNSAFE, Fixture, engine_fixtures, rule_fixtures
from tests.judge.lint import findings, fixed_texts, known_codes
from tests.judge.marks import read_marks, strip_marks
from tests.judge.pool import Pool
from tests.judge.verdict import complaints, modes

RULES = list(rule_fixtures())
ENGINE = list(engine_fixtures())


def _id(fixture: Fixture) -> str:
    return fixture.id


@pytest.fixture(scope="module")
def pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    """JAX, started at once on every fixture that the selected tests will ask for."""
    pool = Pool()
    if not hasattr(request.config, "workerinput"):  # a worker of pytest-xdist has only some of the tests to do
        params = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
        wanted = [each["judged"] for each in params if "judged" in each]
        pool.submit((fixture.main, mode) for fixture in wanted for mode in modes(fixture))
    yield pool
    pool.close()


@pytest.mark.parametrize("judged", [*RULES, *ENGINE], ids=_id)
def test_jax_agrees_with_the_marks(judged: Fixture, pool: Pool) -> None:
    disagreements = complaints(judged, pool)
    assert not disagreements, "\n".join(["", *disagreements])


@pytest.mark.parametrize("fixture", RULES, ids=_id)
def test_jitlint_finds_what_the_marks_say(fixture: Fixture) -> None:
    if fixture.code not in known_codes():
        pytest.skip(f"no rule {fixture.code} yet")
    disagreements = finding_complaints(fixture, findings(fixture.files), known_codes())
    assert not disagreements, "\n".join(["", *disagreements])


@pytest.mark.parametrize("level", [SAFE, UNSAFE])
@pytest.mark.parametrize("fixture", [f for f in RULES if f.fixed(SAFE) or f.fixed(UNSAFE)], ids=_id)
def test_fix_makes_what_lies_beside_it(fixture: Fixture, level: str) -> None:
    twin = fixture.fixed(level)
    if twin is None:
        pytest.skip(f"no {level} twin")
    if fixture.code not in known_codes():
        pytest.skip(f"no rule {fixture.code} yet")
    texts = fixed_texts(fixture, unsafe=level == UNSAFE)
    folder = Fixture(twin).main.parent
    for path in Fixture(twin).files:
        name = path.relative_to(folder).as_posix() if twin.is_dir() else fixture.path.name
        assert texts[name] == strip_marks(path.read_text(encoding="utf-8"))


def test_every_rule_has_bad_and_good_fixtures() -> None:
    for code in sorted(known_codes()):
        names = [fixture.path.name for fixture in rule_fixtures(code)]
        assert any(name.startswith("bad_") for name in names), f"fixtures/rules/{code} has no bad_ fixture"
        assert any(name.startswith("good_") for name in names), f"fixtures/rules/{code} has no good_ fixture"


@pytest.mark.parametrize("fixture", RULES, ids=_id)
def test_fixtures_are_named_and_marked_for_what_they_are(fixture: Fixture) -> None:
    marks = [read_marks(path.read_text(encoding="utf-8"), path.name) for path in fixture.files]
    expected = {want.code for each in marks for want in [*each.expect, *each.todo]}
    assert fixture.path.name.startswith(("bad_", "good_"))
    if fixture.is_fixed:
        plain = fixture.path.with_name(fixture.path.name.replace(UNSAFE, "").replace(SAFE, ""))
        assert plain.exists(), "repairs a fixture that is not there"
    elif fixture.is_good:
        assert fixture.code not in expected, "a good twin that expects its own rule's finding"
    else:
        assert fixture.code in expected, "a bad fixture that expects no finding of its own rule"


def test_folders_are_named_after_codes() -> None:
    assert all(folder.name[:3] == "JIT" and folder.name[3:].isdigit() for folder in (FIXTURES / "rules").iterdir())
