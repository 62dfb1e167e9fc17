"""NumPy hot in a process of its own: one JSON request a line in, one JSON answer a line out.

{"load": path, "count": n}: reads n little-endian int64 times and n float32 values.
{"run": name, "from": ms, "to": ms, "repetitions": n}: runs it n times over the loaded columns and answers the median
time in nanoseconds and the answers.
"""

import json
import sys
import time

import numpy as np


def trim(times, values, begin, end):
    inside = (times > begin) & (times <= end)
    return times[inside], values[inside]


def p1(times, values, begin, end):
    _, kept = trim(times, values, begin, end)
    return kept.size, kept.sum(), kept.mean(), np.percentile(kept, 99)


def p2(times, values, begin, end):
    _, kept = trim(times, values, begin, end)
    spread = kept.min(), kept.max(), kept.std()
    return kept.size, kept.sum(), kept.mean(), *spread, *np.percentile(kept, [50, 90, 99])


def partition(times, values, begin, end):
    rank = 0.99 * (values.size - 1)
    below = int(rank)
    parted = np.partition(values, [below, min(below + 1, values.size - 1)])
    return parted[below], parted[min(below + 1, values.size - 1)]


def sort(times, values, begin, end):
    below = int(0.99 * (values.size - 1))
    ordered = np.sort(values)
    return ordered[below], ordered[min(below + 1, values.size - 1)]


PIPELINES = {"p1": p1, "p2": p2, "partition": partition, "sort": sort}
times = values = None

for line in sys.stdin:
    request = json.loads(line)
    if "load" in request:
        count = request["count"]
        with open(request["load"], "rb") as file:
            stored = file.read()
        times = np.frombuffer(stored, dtype="<i8", count=count)
        values = np.frombuffer(stored, dtype="<f4", offset=8 * count, count=count)
        print(json.dumps({"count": count}), flush=True)
        continue
    pipeline = PIPELINES[request["run"]]
    elapsed = []
    for _ in range(request["repetitions"]):
        start = time.perf_counter_ns()
        answers = pipeline(times, values, request["from"], request["to"])
        elapsed.append(time.perf_counter_ns() - start)
    median = float(np.median(elapsed))
    print(json.dumps({"nanoseconds": median, "answers": [float(answer) for answer in answers]}), flush=True)
