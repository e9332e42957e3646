"""The journal of a search: where its events are kept, which everything else is rebuilt from.

This one is in memory, for one process. A study has one that is on disk, and that other processes
may write to as well; what a search asks of both is the same.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from ..errors import ReplayError, SettingsError
from ..record.events import Event


class MemoryJournal:
    """A journal in memory, which is lost with the process."""

    how_to_go_on = (
        "the result so far is in this error's `result`; a run with a study can be resumed"
    )
    """For an error message: where to find the values that have been told."""

    def check_writable(self) -> None:
        """Raise an error if this process may not write."""

    def turn(self) -> AbstractContextManager[None]:
        """Keep other processes from writing until the end of the block."""
        return nullcontext()

    def events(self) -> list[Event]:
        """All events that are there before the search begins."""
        return []

    def begin(self, events: list[Event]) -> int | None:
        """Of these events, how many count by their values alone; None: those before a restart."""
        return None

    def news(self, known: int) -> list[Event]:
        """The events behind the first `known` ones, which other processes have written."""
        return []

    def again(self, known: list[Event]) -> list[Event] | None:
        """All events after an interrupt, of which `known` were known; None: it is of no use."""
        return known

    def append(self, *events: Event) -> list[Event]:
        """Make events last before they take effect, and return them as they were written."""
        return [*events]

    def taken(self) -> Collection[int]:
        """The numbers of trials that other living processes evaluate."""
        return ()

    def hold(self, trials: Collection[int], more: Iterable[int]) -> None:
        """Note which trials this process evaluates, before anything changes; `more` are new."""

    @contextmanager
    def explained(self, algorithm: str) -> Iterator[None]:
        """In the block, say in an error about the events what can be done about it."""
        try:
            yield
        except ReplayError as error:
            raise SettingsError(
                f"the search cannot be rebuilt after an interrupt: {error}; make {algorithm} "
                "deterministic"
            ) from error

    def spoil(self, why: str) -> None:
        """Note that the search is not where the journal is, so that it must not go on."""
