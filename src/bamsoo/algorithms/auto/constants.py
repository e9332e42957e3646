"""All constants of the default algorithm; each class has its own, with their reasons, beside it.

The values were chosen by measurements on development instances, which the comparisons in
docs/benchmarks.md do not use. `benchmarks/ablation.py` shows what each part of the algorithm
contributes. Experiments pass another instance to `Auto`; nothing changes constants in place.
"""

from dataclasses import dataclass, field

from ...model.learning import LEARNING, Learning
from ...model.prior import PriorConstants
from .candidates import CandidateConstants
from .climb import ClimbConstants
from .demand import DemandConstants
from .failures import FailureConstants
from .local import LocalConstants
from .prior import RefitConstants
from .schedule import ScheduleConstants


@dataclass(frozen=True)
class Constants:
    """The constants of each part."""

    refit: RefitConstants = field(default_factory=RefitConstants)
    prior: PriorConstants = field(default_factory=PriorConstants)
    schedule: ScheduleConstants = field(default_factory=ScheduleConstants)
    climb: ClimbConstants = field(default_factory=ClimbConstants)
    local: LocalConstants = field(default_factory=LocalConstants)
    candidates: CandidateConstants = field(default_factory=CandidateConstants)
    demand: DemandConstants = field(default_factory=DemandConstants)
    failures: FailureConstants = field(default_factory=FailureConstants)
    learning: Learning = LEARNING


CONSTANTS = Constants()
