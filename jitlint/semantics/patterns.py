"""``match`` statements: which patterns ask a tracer for its truth, and which arms can be taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics import instances, operators
from jitlint.semantics.events import BlindTest
from jitlint.semantics.state import Changes
from jitlint.semantics.values import (
    UNKNOWN,
    Array,
    Const,
    DictV,
    ListV,
    Obj,
    Tree,
    Tup,
    Union,
    Value,
    join,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter


def match(interp: Interpreter, node: cst.Match, subject: Value) -> bool:
    """Run a match statement; True when control goes on behind it."""
    ends: list[Changes] = []
    start = interp.trail.mark()
    flows = False
    exhausted = False
    muted = False
    for case in node.cases:
        mark = interp.trail.mark()
        before = interp.raised
        interp.muted += muted
        taken = _pattern(interp, case.pattern, subject)
        interp.muted -= muted
        muted |= interp.raised > before
        if taken is not False and case.guard is not None:
            known = interp.test(case.guard, "guard", case)
            taken = known if known is False or taken is True else None
        if taken is False:
            interp.trail.undo(mark)
            continue
        falls = interp.block(case.body)
        if falls:
            ends.append(interp.trail.changes(start))
            flows = True
        interp.trail.undo(mark)
        if taken is True:
            exhausted = True
            break
    if not exhausted:
        ends.append({})
        flows = True
    interp.trail.merge(ends, join)
    return flows


def _pattern(interp: Interpreter, pattern: cst.MatchPattern, subject: Value) -> bool | None:
    """Does the pattern match? True, False, or None when not known."""
    if isinstance(subject, Union):
        answers = {_pattern(interp, pattern, m) for m in subject.members}
        return answers.pop() if len(answers) == 1 else None
    match pattern:
        case cst.MatchAs(pattern=None):
            if pattern.name is not None:
                interp.assign(pattern.name, subject, pattern)
            return True
        case cst.MatchAs():
            assert pattern.pattern is not None
            taken = _pattern(interp, pattern.pattern, subject)
            if pattern.name is not None:
                interp.assign(pattern.name, subject, pattern)
            return taken
        case cst.MatchOr():
            return _either(interp, pattern, subject)
        case cst.MatchValue():
            return _equal(interp, pattern, subject, interp.eval(pattern.value))
        case cst.MatchSingleton():
            return _singleton(interp, pattern, subject)
        case cst.MatchSequence():
            return _sequence(interp, pattern, subject)
        case cst.MatchMapping():
            return _mapping(interp, pattern, subject)
        case cst.MatchClass():
            return _class(interp, pattern, subject)
    return None


def _either(interp: Interpreter, pattern: cst.MatchOr, subject: Value) -> bool | None:
    """``case a | b``: what is wrong with one alternative is said once, and not of each."""
    result: bool | None = False
    before = interp.activity
    muted = interp.muted
    for p in pattern.patterns:
        interp.muted = muted + (interp.activity > before)
        one = _pattern(interp, p.pattern, subject)
        if one is True:
            result = True
            break
        result = None if one is None else result
    interp.muted = muted
    return result


def _blind(interp: Interpreter, pattern: cst.MatchPattern, subject: Array, against: str) -> None:
    if interp.muted:
        return
    interp.emit(
        BlindTest(
            node=pattern,
            unit=interp.unit,
            value=subject,
            leaf=subject,
            error="",
            how="case",
            against=against,
            possible=subject.maybe,
        )
    )


def _equal(interp: Interpreter, pattern: cst.MatchValue, subject: Value, value: Value) -> bool | None:
    if isinstance(subject, Const) and isinstance(value, Const):
        return bool(subject.value == value.value)
    outcome = operators._compare(interp, cst.Equal(), subject, value, pattern)
    return operators.truth(interp, outcome, pattern, "match")


def _singleton(interp: Interpreter, pattern: cst.MatchSingleton, subject: Value) -> bool | None:
    name = pattern.value.value
    if isinstance(subject, Array) and subject.is_traced:
        if name != "None":
            _blind(interp, pattern, subject, name)
        return False
    if isinstance(subject, Const):
        return subject.value is {"None": None, "True": True, "False": False}[name]
    if name == "None" and isinstance(subject, Tup | ListV | DictV | Array | Obj):
        return False
    return None


def _sequence(interp: Interpreter, pattern: cst.MatchSequence, subject: Value) -> bool | None:
    if isinstance(subject, Array) and subject.is_traced:
        _blind(interp, pattern, subject, "a sequence")
    if isinstance(subject, Array | DictV | Const):
        return False
    elements = list(pattern.patterns)
    star = next((i for i, e in enumerate(elements) if isinstance(e, cst.MatchStar)), None)
    content = subject.content if isinstance(subject, ListV) else subject
    if isinstance(content, Obj) and content.project_class is not None and content.project_class.facts.namedtuple:
        content = operators.iterate(interp, content, pattern)
    if not isinstance(content, Tup):
        for e in elements:
            _bind_star_or_pattern(interp, e, subject if isinstance(subject, Tree) else UNKNOWN)
        return None
    if content.items is None:
        for e in elements:
            _bind_star_or_pattern(interp, e, content.any_item())
        return None
    items = content.items
    if star is None and len(items) != len(elements) or star is not None and len(items) < len(elements) - 1:
        return False
    result: bool | None = True
    for i, e in enumerate(elements):
        if star is not None and i == star:
            rest = items[star : len(items) - (len(elements) - star - 1)]
            _bind_star_or_pattern(interp, e, ListV(Tup(tuple(rest)), pattern))
            continue
        index = i if star is None or i < star else len(items) - (len(elements) - i)
        one = _bind_star_or_pattern(interp, e, items[index])
        if one is False:
            return False
        result = None if one is None else result
    return result


def _bind_star_or_pattern(
    interp: Interpreter, element: cst.MatchSequenceElement | cst.MatchStar, value: Value
) -> bool | None:
    if isinstance(element, cst.MatchStar):
        if element.name is not None:
            interp.assign(element.name, value, element)
        return True
    return _pattern(interp, element.value, value)


def _mapping(interp: Interpreter, pattern: cst.MatchMapping, subject: Value) -> bool | None:
    if isinstance(subject, Array | Tup | ListV | Const):
        return False
    result: bool | None = True if isinstance(subject, DictV) else None
    for e in pattern.elements:
        key = interp.eval(e.key)
        slot = operators.dict_key(key)
        if isinstance(subject, DictV):
            value = subject.slots.get(slot) if slot is not None else None
            if value is None:
                if subject.rest is None and slot is not None:
                    return False
                value = subject.any_value()
                result = None
        else:
            value = subject if isinstance(subject, Tree) else UNKNOWN
        one = _pattern(interp, e.pattern, value)
        if one is False:
            return False
        result = None if one is None else result
    return result


def _class(interp: Interpreter, pattern: cst.MatchClass, subject: Value) -> bool | None:
    kind = interp.eval(pattern.cls)
    answer = instances.is_instance(interp, subject, kind)
    if answer is False and isinstance(subject, Array) and subject.is_traced and subject.python is not None:
        _blind(interp, pattern, subject, interp.unit.code(pattern.cls))
    if answer is False:
        return False
    for i, p in enumerate(pattern.patterns):
        value: Value = subject
        if (
            isinstance(subject, Obj)
            and subject.project_class is not None
            and i < len(subject.project_class.facts.fields)
        ):
            value = subject.slots.get(subject.project_class.facts.fields[i], UNKNOWN)
        one = _pattern(interp, p.value, value)
        if one is False:
            return False
        answer = None if one is None else answer
    for k in pattern.kwds:
        value = UNKNOWN
        if isinstance(subject, Obj):
            value = subject.slots.get(k.key.value, UNKNOWN)
        one = _pattern(interp, k.pattern, value)
        if one is False:
            return False
        answer = None if one is None else answer
    return answer
