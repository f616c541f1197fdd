"""What a right attention function does, one property a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shapedoc.runtime.behave.case import Property
from shapedoc.runtime.behave.properties.alone import AloneAsInBatch
from shapedoc.runtime.behave.properties.causal import NoFutureLeaks
from shapedoc.runtime.behave.properties.equivariant import OrderFollowsInput
from shapedoc.runtime.behave.properties.finite import ResultsAreFinite
from shapedoc.runtime.behave.properties.gradients import EveryParameterLearns
from shapedoc.runtime.behave.properties.inputs import EveryInputMatters
from shapedoc.runtime.behave.properties.kept import InputsAreKept
from shapedoc.runtime.behave.properties.keys import KeysInAnyOrder
from shapedoc.runtime.behave.properties.loss import LossIsLeastAtTarget
from shapedoc.runtime.behave.properties.masked import MaskedKeysChangeNothing
from shapedoc.runtime.behave.properties.padding import PaddingChangesNothing
from shapedoc.runtime.behave.properties.queries import QueriesAreIndependent
from shapedoc.runtime.behave.properties.reference import EqualsReference
from shapedoc.runtime.behave.properties.rows import RowsDoNotMix
from shapedoc.runtime.behave.properties.shapes import ShapesAsStated
from shapedoc.runtime.behave.properties.steps import StepsEqualWhole
from shapedoc.runtime.behave.properties.targets import NoTargetLeaks
from shapedoc.runtime.behave.properties.timing import QueriesTheRightState
from shapedoc.runtime.behave.properties.weights import WeightsSumToOne

__all__ = ["all_properties"]


def all_properties(reference: Callable[..., Any] | None = None) -> list[Property]:
    """Every property, the plainest first: a wrong shape explains what comes after it."""
    return [
        ShapesAsStated(),
        ResultsAreFinite(),
        InputsAreKept(),
        WeightsSumToOne(),
        RowsDoNotMix(),
        AloneAsInBatch(),
        MaskedKeysChangeNothing(),
        PaddingChangesNothing(),
        NoFutureLeaks(),
        NoTargetLeaks(),
        QueriesAreIndependent(),
        KeysInAnyOrder(),
        OrderFollowsInput(),
        EveryInputMatters(),
        LossIsLeastAtTarget(),
        QueriesTheRightState(),
        EveryParameterLearns(),
        StepsEqualWhole(),
        EqualsReference(reference),
    ]
