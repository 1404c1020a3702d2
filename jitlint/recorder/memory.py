"""A record kept in memory, of this process and from now on."""

from __future__ import annotations

from typing import Any

from jitlint.recorder.record import Record, record_of_events
from jitlint.recorder.runtime.recorder import Event, recorder
from jitlint.recorder.runtime.sink import process_event
from jitlint.recorder.runtime.waiting import when_imported


def watch() -> None:
    """Have the recorder see jax, now if it is imported and else as soon as it is.

    What was jitted before is not seen. Calling it again changes nothing.
    """
    when_imported("jax", _instrument)


def _instrument(jax: Any) -> None:
    from jitlint.recorder.runtime.instrument import instrument

    instrument(jax)


class MemoryRecord:
    """Collects events between :meth:`start` and :meth:`stop`, in this process."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def start(self) -> None:
        """Begin to collect; earlier events are kept."""
        recorder().listeners.append(self.events.append)

    def stop(self) -> None:
        """Collect no more."""
        recorder().listeners.remove(self.events.append)

    def record(self) -> Record:
        """The record of what was collected so far."""
        return record_of_events([process_event(), *self.events])
