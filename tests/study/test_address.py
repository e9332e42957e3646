"""One place reads an address, and no part of a password is ever shown."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis.strategies import integers, lists, sampled_from, text

from bamsoo import Study
from bamsoo.errors import SettingsError
from bamsoo.study.address import FileAddress, SafeAddress, ServerAddress, file_name, parse


def test_a_file_is_given_by_its_path_or_by_an_address_of_sqlite():
    assert parse("a/run.db") == parse(Path("a/run.db")) == FileAddress(Path("a/run.db"))
    assert parse("sqlite:///a/run.db").file == Path("a/run.db")
    assert parse("sqlite:////a/p%41.db?timeout=5").shown == "/a/p%41.db"
    assert parse("sqlite:///file:/a/p%41.db?mode=ro&uri=true").path == Path("/a/pA.db")
    assert parse("postgresql.db").shown == "postgresql.db"
    for wrong in ("sqlite://run.db", "sqlite:///", "sqlite:///:memory:"):
        with pytest.raises(SettingsError, match="names no file; write sqlite:///"):
            parse(wrong)


def test_an_address_is_taken_apart_and_shown_without_its_password():
    given = "postgresql://me:secret@host:5/db?password=x&sslmode=require#my run"
    address = parse(given)
    assert address.shown == "postgresql://me@host:5/db?sslmode=require#my run"
    assert isinstance(address.shown, SafeAddress)
    assert address.shown.name == "my run"
    assert address.file == Path("my-run.db")
    assert address.own
    who = {"user": "me", "password": "x"}
    where = {"host": "host", "port": "5", "dbname": "db", "sslmode": "require"}
    assert address.keywords == who | where
    assert "secret" not in repr(address)
    several = parse("postgresql://a:1,[::1],c:3/db?ssl=true#n").keywords
    assert several == {"host": "a,::1,c", "port": "1,,3", "dbname": "db", "sslmode": "require"}
    socket = parse("postgresql://me:@/db?host=/tmp/x&application_name=a+b#n")
    assert socket.keywords["host"] == "/tmp/x"
    assert socket.keywords["application_name"] == "a+b"
    assert "password" not in socket.keywords
    assert parse("postgresql://me@host/db#run@home").name == "run@home"
    assert parse("postgresql://host/db#a#b").name == "a#b"
    other = parse("mysql+pymysql://me:a@b/c%@host/db?charset=utf8")
    assert other.uri == "mysql+pymysql://me:a%40b%2Fc%25@host/db?charset=utf8"
    assert not other.own


HARD = [*"%?/#@:&=+ \\'\"[]{};,!äß", "%41", "%2", "://", "..", "\t"]
SECRET = "Zq7"
"""No message contains this by chance."""

passwords = lists(sampled_from([SECRET, *HARD, "12", "x"]), min_size=1, max_size=8).map("".join)


def found_in(said):
    """Whether a text contains a part of a password that was made of `SECRET` and others."""
    return SECRET in str(said)


@given(password=passwords.filter(found_in), name=sampled_from(["n", "my run"]))
@example(password=f"a/{SECRET}", name="n")
@example(password=f"12#{SECRET}", name="n")
@example(password=f"a/b@{SECRET}#q", name="n")
@example(password=f"@#{SECRET}", name="n")
@example(password=f"/@{SECRET}?", name="n")
def test_no_part_of_a_password_is_shown_and_it_is_understood_or_refused(password, name):
    for scheme in ("postgresql", "postgres", "mysql", "postgresql+psycopg2", "http", "postgresx"):
        for form in (
            "{}://me:{}@host/db#{}",
            "{}://me@host/db?password={}#{}",
            "{}://127.0.0.1:1/db?user=me&password={}#{}",
            "{}:/me:{}@host#{}",
            "{}:me:{}@host#{}",
            "{}//me:{}@host/db#{}",
            "{}/me:{}@host/db#{}",
            "{}://me:{}@[::1/db#{}",
        ):
            given = form.format(scheme, password, name)
            try:
                address = parse(given)
            except SettingsError as error:
                assert not found_in(error)
                assert not found_in(error.__cause__)
            else:
                assert not found_in(address.shown)
                assert not found_in(repr(address))
                assert not found_in(address.file)
                with pytest.raises(SettingsError) as caught:  # here for Path
                    parse(Path(given))
                assert not found_in(caught.value)
    plain = not set(password) & set("@/?#%")
    if plain:
        assert parse(f"postgresql://me:{password}@host/db#n").keywords["password"] == password


@given(password=text(min_size=1, max_size=12))
def test_a_quoted_password_is_always_understood(password):
    from urllib.parse import quote

    if password.isprintable():
        quoted = quote(password, safe="")
        for form in ("postgresql://me:{}@host/db#n", "postgresql://me@host/db?password={}#n"):
            assert parse(form.format(quoted)).keywords["password"] == password
        again = parse(parse(f"mysql://me:{quoted}@host/db").uri)
        assert again.keywords["password"] == password


def test_a_password_with_hard_characters_is_understood_as_it_is_typed():
    for password in ("100%", "p/w", "p?w", "p#w", "p@w", "a%41/?#"):
        address = parse(f"postgresql://me:{password}@host/db#n")
        assert isinstance(address, ServerAddress)
        assert address.shown == "postgresql://me@host/db#n"
        assert address.keywords["password"] == password.replace("%41", "A")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("postgresql://me:12#Zq7@host/db", "cannot be read, or in more than one way"),
        ("postgresql://me:Zq7@host/db?password=Zq7#Zq7#n", "cannot be read, or in more than one"),
        ("mysql://me@host/db?password=Zq7#Zq7", "cannot be read, or in more than one way"),
        ("postgresql://host/db?sslpassword=a#Zq7&user=me", "cannot be read, or in more than one"),
        ("postgresql://host/db#n?user=me&password=Zq7", "cannot be read, or in more than one way"),
        ("postgresql://me:a/b@Zq7#q@[::1/db#n", "cannot be read, or in more than one way"),
        ("postgresql://me:#Zq7@[::1/db#n", "cannot be read, or in more than one way"),
        ("http://me:Zq7@host", "begins with http://; give the path"),
        ("host=h password=Zq7", "looks like an address, but is not one"),
        ("postgresql:me:Zq7@host/db#n", "looks like an address, but is not one"),
        ("postgresql//me:Zq7@host/db#n", "looks like an address, but is not one"),
        ("'postgresql://me:Zq7@host/db#n'", "looks like an address, but is not one"),
        (Path("postgresql://me:Zq7@host/db#n"), "must be a string"),
        ("postgresql://me:Zq7@host/db", "the name of the study is missing"),
        ("mysql://me:Zq7@host/db", "on a PostgreSQL server only"),
    ],
)
def test_what_is_refused_is_not_repeated(wrong, why):
    with pytest.raises(SettingsError, match=why) as caught:
        Study.open(wrong, space=[(0, 1)])
    assert not found_in(caught.value)


@given(name=text(max_size=300), more=integers(0, 3))
def test_a_name_from_elsewhere_names_a_file_in_this_directory(name, more):
    made = file_name("../" * more + name)
    assert made == Path(made).name
    assert made not in ("", ".", "..")
    assert not made.startswith(".")
    assert len(made) <= 120
