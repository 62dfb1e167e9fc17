"""A program that shares a locked window's hash: adds one event to it with NumPy, and prints what it computes.

Arguments: port, key, span in ms, value, "bytes" or "text" (base64, as the published listing stores its columns).
"""

import base64
import json
import socket
import sys
import time

import numpy as np

port, key, span, value, form = sys.argv[1:]
redis = socket.create_connection(("127.0.0.1", int(port))).makefile("rwb")


def command(*parts):
    redis.write(b"*%d\r\n" % len(parts))
    for part in parts:
        part = part if isinstance(part, bytes) else str(part).encode()
        redis.write(b"$%d\r\n%s\r\n" % (len(part), part))
    redis.flush()
    return reply()


def reply():
    line = redis.readline()
    kind, rest = line[:1], line[1:-2]
    if kind == b"-":
        raise RuntimeError(rest)
    if kind == b"*":
        return [reply() for _ in range(int(rest))]
    if kind == b"$":
        return None if rest == b"-1" else redis.read(int(rest) + 2)[:-2]
    return rest


def column(field, dtype):
    if field is None:
        return np.zeros(0, dtype)
    return np.frombuffer(base64.b64decode(field) if form == "text" else field, dtype=dtype)


def stored(array):
    return base64.b64encode(array.tobytes()) if form == "text" else array.tobytes()


now = time.time_ns() // 1_000_000
fields = command("HMGET", key, "timestamps", "values")
timestamps = np.append(column(fields[0], "<i8"), np.int64(now))
values = np.append(column(fields[1], "<f4"), np.float32(value))
inside = timestamps >= now - int(span)
timestamps, values = timestamps[inside], values[inside]
command("HSET", key, "timestamps", stored(timestamps), "values", stored(values))
print(
    json.dumps(
        {
            "count": int(values.size),
            "sum": float(values.sum()),
            "average": float(values.mean()) if values.size else 0.0,
            "p99": float(np.percentile(values, 99)) if values.size else 0.0,
        }
    )
)
