"""Settings of a run."""

from __future__ import annotations

import dataclasses
import enum


class Activation(enum.Enum):
    RELU = "relu"
    TANH = "tanh"


@dataclasses.dataclass(frozen=True)
class Config:
    """Hashable, so that it can be a static argument."""

    hidden: tuple[int, ...] = (32, 32)
    classes: int = 2
    activation: Activation = Activation.RELU
    dropout: float = 0.1
    learning_rate: float = 1e-2
    weight_decay: float | None = None
    steps: int = 200
    batch: int = 64
    seed: int = 0
