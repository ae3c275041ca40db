"""Folders and files that other users could have put code into are told apart from those of the user."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from gridmodl.jit.ownership import ForeignFileError, distrust_reason, opened, read_trusted

OTHER = 12345

pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give folders and files away"
)


@pytest.fixture
def place(tmp_path):
    """An empty folder below folders of the user."""
    os.chmod(tmp_path, 0o700)
    assert distrust_reason(tmp_path) is None
    return tmp_path


def owned(path):
    os.chown(path, OTHER, OTHER, follow_symlinks=False)


def of_another(place):
    """The folder itself."""
    (place / "mine").mkdir()
    owned(place / "mine")
    return place / "mine", f"{place / 'mine'} belongs to another user"


def below_his(place):
    """He can rename the folder and put his own."""
    (place / "his" / "mine").mkdir(parents=True)
    owned(place / "his")
    return place / "his" / "mine", f"{place / 'his'} belongs to another user"


def far_below_his(place):
    (place / "his" / "a" / "b" / "c").mkdir(parents=True)
    owned(place / "his")
    return place / "his" / "a" / "b" / "c", f"{place / 'his'} belongs to another user"


def not_yet_there(place):
    (place / "his").mkdir()
    owned(place / "his")
    return place / "his" / "not" / "there", f"{place / 'his'} belongs to another user"


def below_open(place):
    (place / "open" / "mine").mkdir(parents=True)
    (place / "open").chmod(0o777)
    return place / "open" / "mine", f"other users can write to {place / 'open'}"


def below_open_to_a_group(place):
    (place / "open" / "mine").mkdir(parents=True)
    os.chown(place / "open", 0, OTHER)
    (place / "open").chmod(0o775)
    return place / "open" / "mine", f"other users can write to {place / 'open'}"


def is_open(place):
    """In a sticky folder nobody renames what is another's, but he puts new files beside it."""
    (place / "open").mkdir()
    (place / "open").chmod(0o1777)
    return place / "open", f"other users can write to {place / 'open'}"


def through_his_link(place):
    """In a folder that all can write to, such as /tmp."""
    (place / "tmp").mkdir()
    (place / "tmp").chmod(0o1777)
    (place / "mine").mkdir()
    (place / "tmp" / "link").symlink_to(place / "mine")
    owned(place / "tmp" / "link")
    return place / "tmp" / "link", f"{place / 'tmp' / 'link'} belongs to another user"


def link_into_his(place):
    """The path looks like the user's, what it leads through is not."""
    (place / "his" / "mine").mkdir(parents=True)
    owned(place / "his")
    (place / "link").symlink_to(Path("his", "mine"))
    return place / "link", f"{place / 'his'} belongs to another user"


def link_beside_his(place):
    """A link below his folder that leads out again: he can change the link."""
    (place / "his").mkdir()
    (place / "mine").mkdir()
    (place / "his" / "link").symlink_to("../mine")
    owned(place / "his")
    return place / "his" / "link", f"{place / 'his'} belongs to another user"


def links_of_links(place):
    (place / "his" / "mine").mkdir(parents=True)
    owned(place / "his")
    (place / "first").symlink_to(place / "second" / "..")
    (place / "second").symlink_to(place / "his" / "mine")
    return place / "first", f"{place / 'his'} belongs to another user"


HOSTILE = [
    of_another, below_his, far_below_his, not_yet_there, below_open, below_open_to_a_group, is_open, through_his_link,
    link_into_his, link_beside_his, links_of_links,
]  # fmt: skip


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
def test_folders_where_others_could_put_code_are_refused(place, make, monkeypatch):
    folder, reason = make(place)
    assert distrust_reason(folder).startswith(reason)
    monkeypatch.chdir(place)
    assert distrust_reason(folder.relative_to(place)).startswith(reason)


def in_a_sticky_folder(place):
    (place / "tmp" / "mine").mkdir(parents=True)
    (place / "tmp").chmod(0o1777)
    return place / "tmp" / "mine"


def in_the_folder_of_the_users_own_group(place):
    """A umask of 002, where each user has a group of his name."""
    (place / "home" / "mine").mkdir(parents=True)
    (place / "home").chmod(0o775)
    return place / "home" / "mine"


def through_links_of_the_user(place):
    (place / "mine").mkdir()
    (place / "first").symlink_to("second")
    (place / "second").symlink_to(place / "mine")
    return place / "first" / ".." / "second"


@pytest.mark.parametrize(
    "make", [in_a_sticky_folder, in_the_folder_of_the_users_own_group, through_links_of_the_user],
    ids=lambda make: make.__name__,
)  # fmt: skip
def test_folders_of_the_user_are_trusted(place, make):
    assert distrust_reason(make(place)) is None


def test_a_group_of_the_user_with_other_members_is_not_his_own(place, monkeypatch):
    grp = pytest.importorskip("grp")
    folder = in_the_folder_of_the_users_own_group(place)
    group = grp.getgrgid(0)
    shared = grp.struct_group((group.gr_name, "x", 0, ["root", "another"]))
    monkeypatch.setattr(grp, "getgrgid", lambda number: shared)
    assert "other users can write to" in distrust_reason(folder)


def test_a_folder_with_an_access_list_is_not_of_the_users_own_group(place, monkeypatch):
    """The bits of the group are then those of everybody whom the list names."""
    folder = in_the_folder_of_the_users_own_group(place)
    monkeypatch.setattr(os, "getxattr", lambda path, name: b"another: rwx", raising=False)
    assert "other users can write to" in distrust_reason(folder)


def test_a_circle_of_links_is_an_error(place):
    (place / "a").symlink_to("b")
    (place / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        distrust_reason(place / "a")


class TestFiles:
    def test_a_file_of_the_user_is_read(self, place):
        (place / "file").write_bytes(b"code")
        assert read_trusted(place / "file") == b"code"

    def test_a_file_of_another_user(self, place):
        (place / "file").write_bytes(b"code")
        owned(place / "file")
        with pytest.raises(ForeignFileError, match="belongs to another user"):
            read_trusted(place / "file")

    @pytest.mark.parametrize("mode", [0o602, 0o620, 0o666])
    def test_a_file_that_others_can_write_to(self, place, mode):
        (place / "file").write_bytes(b"code")
        (place / "file").chmod(mode)
        with pytest.raises(ForeignFileError, match="other users can write to"):
            read_trusted(place / "file")

    def test_a_link(self, place):
        (place / "file").write_bytes(b"code")
        (place / "link").symlink_to("file")
        with pytest.raises(ForeignFileError, match="is a symbolic link"):
            read_trusted(place / "link")

    def test_a_pipe_neither_hangs_nor_is_read(self, place):
        os.mkfifo(place / "pipe")
        with pytest.raises(ForeignFileError, match="is no regular file"):
            read_trusted(place / "pipe")

    def test_a_folder(self, place):
        with pytest.raises(ForeignFileError, match="is no regular file"):
            read_trusted(place)

    def test_a_socket_cannot_be_opened(self, place, monkeypatch):
        monkeypatch.chdir(place)  # names of sockets are short
        with socket.socket(socket.AF_UNIX) as one:
            one.bind("socket")
            with pytest.raises(OSError, match="No such device or address"):
                read_trusted(place / "socket")

    def test_no_file(self, place):
        with pytest.raises(FileNotFoundError):
            read_trusted(place / "file")

    def test_what_was_opened_is_asked(self, place, monkeypatch):
        """And not what its path leads to a moment later."""
        (place / "file").write_bytes(b"his")
        owned(place / "file")
        fstat = os.fstat

        def swapped(handle):
            (place / "mine").write_bytes(b"mine")
            (place / "mine").replace(place / "file")
            return fstat(handle)

        monkeypatch.setattr(os, "fstat", swapped)
        with pytest.raises(ForeignFileError, match="another user"):
            read_trusted(place / "file")

    def test_nothing_is_done_with_a_file_of_another_user(self, place):
        """Such as loading a library by its path."""
        (place / "code.so").write_bytes(b"code")
        with opened(place / "code.so"):
            pass
        owned(place / "code.so")
        done = []
        with pytest.raises(ForeignFileError), opened(place / "code.so"):
            done.append("loaded")
        assert done == []
