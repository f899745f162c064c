"""Numbers by digest: the same in memory and on disk, and flat in memory however many there are."""

import subprocess
import sys

import pytest

from judgegraph.data.samples import IN_MEMORY, DiskIndex, SeenIds
from judgegraph.errors import ConfigError

MANY = IN_MEMORY * 2


def key(number):
    return number.to_bytes(16, "big")


@pytest.mark.parametrize("count", [3, MANY], ids=["in memory", "on disk"])
def test_the_first_number_of_a_key_stands_until_another_is_put(count):
    with DiskIndex() as index:
        assert [index.first(key(i), i) for i in range(count)] == list(range(count))
        assert [index.first(key(i), -1) for i in range(count)] == list(range(count))
        index.put(key(1), 77)
        assert (index.get(key(0)), index.get(key(1)), index.get(key(count))) == (0, 77, None)


def test_a_key_put_on_the_way_to_disk_is_kept():
    with DiskIndex() as index:
        for i in range(MANY):
            index.put(key(i), i)
        assert [index.get(key(i)) for i in (0, IN_MEMORY - 1, IN_MEMORY, IN_MEMORY + 1, MANY - 1)] == [
            0, IN_MEMORY - 1, IN_MEMORY, IN_MEMORY + 1, MANY - 1,
        ]  # fmt: skip


def test_a_temporary_file_that_cannot_be_written_is_told():
    with DiskIndex() as index:
        for i in range(MANY):
            index.put(key(i), i)
        index._db.execute("PRAGMA query_only = ON")
        with pytest.raises(ConfigError, match="temporary index of ids"):
            index.put(key(MANY), 0)


def test_an_id_is_found_where_it_was_seen_first_also_among_many():
    with SeenIds() as seen:
        assert all(seen.line(f"id {i}", i) == i for i in range(MANY))
        assert seen.line("id 5", MANY) == 5
        assert seen.line(f"id {MANY - 1}", MANY) == MANY - 1


@pytest.mark.long
def test_memory_does_not_grow_with_the_number_of_ids():
    code = """
from judgegraph.data.samples import SeenIds
def used():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
with SeenIds() as seen:
    for i in range(20_000):
        seen.line(f"id {i}", i)
    before = used()
    for i in range(20_000, 200_000):
        seen.line(f"id {i}", i)
    print(used() - before)
"""
    if not sys.platform.startswith("linux"):
        pytest.skip("skipped: no /proc here")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert int(done.stdout) < 2_000_000, done.stderr
