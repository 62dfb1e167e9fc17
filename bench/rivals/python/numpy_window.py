"""The window of V3: appends one event, trims, computes; prints one line of JSON.

Five fields, as arguments or (when the first argument is "-") as lines on standard input: timestamps and values
(base64 of little-endian int64 ms and float32), the event's time in ms, its value, the window in ms.
"""

import base64
import json
import sys
import time

import numpy as np


def text(column):
    return base64.b64encode(column.tobytes()).decode("ascii")


fields = sys.stdin.read().split("\n") if sys.argv[1] == "-" else sys.argv[1:]
timestamps = np.frombuffer(base64.b64decode(fields[0]), dtype="<i8")
values = np.frombuffer(base64.b64decode(fields[1]), dtype="<f4")
timestamps = np.append(timestamps, np.int64(fields[2]))
values = np.append(values, np.float32(fields[3]))

cutoff = time.time_ns() // 1_000_000 - int(fields[4])
inside = timestamps >= cutoff
timestamps = timestamps[inside]
values = values[inside]

print(
    json.dumps(
        {
            "count": int(values.size),
            "sum": float(values.sum()),
            "average": float(values.mean()) if values.size else 0.0,
            "p99": float(np.percentile(values, 99)) if values.size else 0.0,
            "timestamps": text(timestamps),
            "values": text(values),
        }
    )
)
