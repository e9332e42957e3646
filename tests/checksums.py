"""Checksums for a study that a test has changed by hand: as if a bug had written it so."""

from bamsoo.study.rows import checksum


def renew_checksums(connection):
    for *row, _ in connection.execute("SELECT * FROM events").fetchall():
        connection.execute("UPDATE events SET checksum = ? WHERE id = ?", (checksum(row), row[0]))
    for pair in connection.execute("SELECT key, value FROM meta").fetchall():
        connection.execute("UPDATE meta SET checksum = ? WHERE key = ?", (checksum(pair), pair[0]))
