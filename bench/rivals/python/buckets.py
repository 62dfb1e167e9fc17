"""Counts, sums, extremes, means and percentiles of each bucket of a span, by pandas or DuckDB.

Arguments: pandas or duckdb, a file of little-endian float32 values, a file of float64 times in ms, the end of the span in ms,
the length of a bucket in ms, repetitions. Buckets are open to the left, as those of oriel. Prints one line of JSON: the median
milliseconds, and the count and p99 of each bucket, the oldest first.
"""

import json
import sys
import time

import numpy as np

PERCENTILES = [0.5, 0.9, 0.99]


def by_pandas(values, times, to_ms, every_ms):
    import pandas

    index = pandas.to_datetime(times, unit="ms")
    end = pandas.to_datetime(to_ms, unit="ms")
    series = pandas.Series(values, index=index)
    rule = pandas.Timedelta(every_ms, unit="ms")

    def run():
        buckets = series.resample(rule, origin=end, closed="right", label="right")
        summary = buckets.agg(["count", "sum", "mean", "min", "max"])
        quantiles = buckets.quantile(PERCENTILES).unstack()
        return summary["count"].tolist(), quantiles[0.99].tolist()

    return run


def by_duckdb(values, times, to_ms, every_ms):
    import duckdb
    import pandas

    database = duckdb.connect()
    frame = pandas.DataFrame({"t": times.astype("i8"), "v": values})
    database.execute("CREATE TABLE events AS SELECT * FROM frame")
    query = f"""
      SELECT count(*), sum(v), avg(v), min(v), max(v), quantile_cont(v, {PERCENTILES})
      FROM events GROUP BY floor((t - {to_ms}) / {every_ms}.0 - 1e-9) ORDER BY min(t)"""

    def run():
        rows = database.execute(query).fetchall()
        return [row[0] for row in rows], [row[5][2] for row in rows]

    return run


library, values_path, times_path, to_ms, every_ms, repetitions = sys.argv[1:]
values = np.fromfile(values_path, dtype="<f4").astype("f8")
times = np.fromfile(times_path, dtype="<f8")
run = {"pandas": by_pandas, "duckdb": by_duckdb}[library](values, times, int(to_ms), int(every_ms))
elapsed = []
for _ in range(int(repetitions)):
    start = time.perf_counter_ns()
    counts, p99s = run()
    elapsed.append(time.perf_counter_ns() - start)
print(json.dumps({"ms": float(np.median(elapsed)) / 1e6, "counts": counts, "p99s": p99s}))
