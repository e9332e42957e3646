"""The same work in several threads at once."""

import threading


def in_threads(count, work):
    """Call `work` in each of so many threads; what one of them raises is raised here."""
    errors = []

    def guarded():
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
