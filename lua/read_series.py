"""Reads a series out of Redis with nothing but redis-cli and NumPy.

    python3 read_series.py NAME [argument of redis-cli ...]       e.g. read_series.py api:latency -h 127.0.0.1 -p 6379

Imported, `events(name, redis_cli)` gives (times in ms, values), both float64, in journal order.
"""

import subprocess
import sys

import numpy as np
from read_blocks import BLOCK, events_of

CHUNK = np.dtype(
    "u1,u1,<u2,<u4,<f8,<f8,<u4,<u4,<f8,<f8,<f8,<f8"
)  # format, value type, clock and guard, chunkMs, number, created, birth, birth before, last stamp, retention, complete since, latest
CHUNK.names = "format type clock_and_guard chunk_ms number created birth before last_stamp retention complete_since latest".split()
FRAME = np.dtype([("kind", "u1"), ("zero", "u1"), ("count", "<u2"), ("name", "<u8"), ("since", "<u4")])
# What follows the header of a sealed chunk (format 2), its totals of blocks, and ranges of names.
SEALED = np.dtype(
    "<u4,<u4,V16,<u4,<u4,<u4,<u4,<u4,<u4,<u4,<u4,<u4,<f8,<f8,<f8,<f8,<f8,<f8,<f8,<u4,<u4,<u4"
)  # length, place and last frame before it was sealed, checksum, then:
SEALED.names = (
    "raw_length raw_place raw_frame checksum record_checksum heads_checksum count blocks totals_at names_at blocks_at size "
    "earliest latest min max sum_high sum_low m2 nan plus minus"
).split()
TOTALS_BYTES = 56
RANGE = np.dtype([("producer", "<u4"), ("first", "<u4"), ("count", "<u4"), ("last", "<u4")])
DEDUPE_MS = 20_000


def get(key, redis_cli):
    return subprocess.run([*redis_cli, "GET", key], check=True, stdout=subprocess.PIPE).stdout[:-1]


def chunks(name, redis_cli):
    """Newest first: the open chunk, then the closed ones as far back as they are there and link."""
    key = "oriel:{" + name.replace("%", "%25").replace("{", "%7B").replace("}", "%7D") + "}" if name else "oriel:{%}"
    data = get(key, redis_cli)
    while data:
        header = np.frombuffer(data, CHUNK, 1)[0]
        if header["format"] not in (1, 2):
            raise ValueError("format %d is not known here" % header["format"])
        if header["type"] > 1:
            raise ValueError("value type %d is not known here" % header["type"])
        yield header, data
        before = get("%s:%d" % (key, header["number"] - 1), redis_cli) if header["before"] else b""
        data = before if before and np.frombuffer(before, CHUNK, 1)[0]["birth"] == header["before"] else b""


def frames(header, data):
    """Of one chunk: name (sequence and producer as one u64), stamp, times, values."""
    at = CHUNK.itemsize
    while at < len(data):
        frame = np.frombuffer(data, FRAME, 1, at)[0]
        count, stamp = int(frame["count"]), header["created"] + frame["since"]
        times, values_at = np.full(count, stamp), at + FRAME.itemsize
        width = 8 if frame["kind"] & 1 else 4
        if frame["kind"] & 2:
            times = np.frombuffer(data, "<f8", 1, values_at) + np.frombuffer(data, "<u4", count, values_at + 8)
            values_at += 8 + 4 * count
            values_at += (at - values_at) % width
        yield int(frame["name"]), stamp, times, np.frombuffer(data, "<f%d" % width, count, values_at)
        at = values_at + width * count


def blocks(data):
    """Of one sealed chunk: times and values. Copies were dropped when it was sealed."""
    sealed = np.frombuffer(data, SEALED, 1, CHUNK.itemsize)[0]
    at, body_at = CHUNK.itemsize + SEALED.itemsize, int(sealed["blocks_at"])
    for i in range(sealed["blocks"]):
        head = np.frombuffer(data, BLOCK, 1, at)[0]
        end = body_at + int(head["body"]) + int(head["order_bytes"]) + int(head["times"])
        earliest = np.frombuffer(data, "<f8", 1, int(sealed["totals_at"]) + TOTALS_BYTES * i)[0]
        yield events_of(head, data[at : at + int(head["head"])] + data[body_at:end], earliest)
        at, body_at = at + int(head["head"]), end


def ranges(header, data):
    """The names of the last frames of a sealed chunk: producer, first and last sequence, latest stamp."""
    sealed = np.frombuffer(data, SEALED, 1, CHUNK.itemsize)[0]
    for one in np.frombuffer(data[sealed["names_at"] : sealed["blocks_at"]], RANGE):
        first = int(one["first"])
        yield int(one["producer"]), first, first + int(one["count"]) - 1, header["created"] + one["last"]


def events(name, redis_cli=("redis-cli",)):
    counted, sealed, times, values = {}, [], [np.empty(0)], [np.empty(0)]
    for header, data in reversed(list(chunks(name, redis_cli))):
        if header["format"] == 2:
            for its_times, its_values in blocks(data):
                times.append(its_times)
                values.append(its_values.astype("f8"))
            sealed += ranges(header, data)
            continue
        for frame, stamp, its_times, its_values in frames(header, data):
            producer, sequence = frame & 0xFFFFFFFF, frame >> 32
            copies = [stamp - last for p, a, b, last in sealed if p == producer and a <= sequence <= b]
            if min([*copies, stamp - counted.get(frame, -np.inf)]) < DEDUPE_MS:
                continue  # a request that was sent again
            counted[frame] = stamp
            times.append(its_times)
            values.append(its_values.astype("f8"))
    return np.concatenate(times), np.concatenate(values)


if __name__ == "__main__":
    for at, value in zip(*events(sys.argv[1], ["redis-cli", *sys.argv[2:]])):
        print("%d %r" % (at, float(value)))
