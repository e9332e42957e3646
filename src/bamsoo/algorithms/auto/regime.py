"""What the default does differently in different spaces, in one table.

All parts of the default work in every space. Where one of them asks what kind of space it is in,
the answer stands here, with its reason. `docs/auto.md` shows the same as a table.
"""

from dataclasses import dataclass

from ...space.axes import Domain
from ..book import Book

FEW = 4
"""With at most this many axes, the tree soon splits along each of them."""

CAREFUL = 4
"""With more axes than this, the models of measured constraints have few points for each axis."""

MANY = 9
"""From this many real axes on, 4 (D + 1) steps in a row without success are most of a run."""


@dataclass(frozen=True)
class Regime:
    """The kind of problem that a search has."""

    dim: int
    mixed: bool
    """Whether there are whole numbers or options."""
    known: bool
    """Whether there are constraints that are known in advance."""
    measured: bool
    """Whether there are constraints that evaluations measure."""

    @classmethod
    def of(cls, domain: Domain, book: Book) -> "Regime":
        """The kind of problem of a search."""
        return cls(domain.dim, domain.mixed, domain.region is not None, book.known.count > 0)

    @property
    def constrained(self) -> bool:
        """Whether there are constraints. Small problems then may have several local solutions."""
        return self.known or self.measured

    @property
    def plain(self) -> bool:
        """Whether all points of a box of real numbers are equally good neighbours.

        Elsewhere few points are alike, and they show little of valleys and of sums.
        """
        return not self.mixed and not self.constrained

    @property
    def designs(self) -> bool:
        """Whether a search begins with a Latin hypercube.

        Models of options and of constraints need points that differ along every axis. In a plain
        box, steps along single axes take its place, because they recognise sums.
        """
        return self.mixed or self.measured

    @property
    def draws(self) -> bool:
        """Whether cells draw their points, and candidates explore between rejected nodes.

        Where there are whole numbers or options, most cells have the same centres. With drawn
        points the search explores even if its bounds are narrower.
        """
        return self.mixed

    @property
    def jumps(self) -> bool:
        """Whether values may jump from point to point, so that a prior with jumps is tried too."""
        return self.mixed

    @property
    def settles(self) -> bool:
        """Whether the tree soon finds another basin once steps fail."""
        return self.plain and self.dim <= FEW

    @property
    def early(self) -> bool:
        """Whether candidates come as soon as each climb has failed once.

        Climbs know only some of the axes of a mixed space, and with many axes they would keep most
        of a run.
        """
        return self.mixed or self.dim >= MANY

    @property
    def costly(self) -> bool:
        """Whether a step of the candidates costs as much as their failures in a row."""
        return not self.mixed and self.dim >= MANY

    @property
    def strays(self) -> bool:
        """Whether the top of a climb's model is mostly far from where it should be.

        With many axes the model has few points for each. A step that failed then says that the
        model is wrong at the length of the step, however wide the region was. With few axes, a
        short step that failed rather means that the model is right and its top is near.
        """
        return self.plain and self.dim >= MANY

    def careful(self, axes: int) -> bool:
        """Whether a climb along so many axes shrinks its region after successes too.

        The models of measured constraints then have few points for each axis, and the step after a
        success that doubles the radius usually violates a constraint.
        """
        return self.measured and axes > CAREFUL
