"""The 99th percentile of each group by pandas or DuckDB: one JSON request a line in, one JSON answer a line out.

Argument: pandas or duckdb.
{"load": path, "count": n}: reads n little-endian float32 values, then n int32 routes and n int32 methods.
{"by": columns}: "route", or "route" and "method". Answers the milliseconds of the computation, and the columns of the answer.
"""

import json
import sys
import time

import numpy as np
import pandas


def by_pandas(frame):
    def run(by):
        quantiles = frame.groupby(by)["v"].quantile(0.99)
        return quantiles.index.to_frame(index=False), quantiles.to_numpy()

    return run


def by_duckdb(frame):
    import duckdb

    database = duckdb.connect()
    database.execute("CREATE TABLE events AS SELECT * FROM frame")

    def run(by):
        columns = ", ".join(by)
        query = f"SELECT {columns}, quantile_cont(v, 0.99) AS p99 FROM events GROUP BY {columns}"
        answer = database.execute(query).df()
        return answer[by], answer["p99"].to_numpy()

    return run


library = {"pandas": by_pandas, "duckdb": by_duckdb}[sys.argv[1]]
ask = None

for line in sys.stdin:
    request = json.loads(line)
    if "load" in request:
        count = request["count"]
        with open(request["load"], "rb") as file:
            values, routes, methods = (np.fromfile(file, dtype, count) for dtype in ("<f4", "<i4", "<i4"))
        ask = library(pandas.DataFrame({"route": routes, "method": methods, "v": values.astype("f8")}))
        print(json.dumps({"count": count}), flush=True)
        continue
    start = time.perf_counter_ns()
    rows, p99s = ask(request["by"])
    elapsed = time.perf_counter_ns() - start
    columns = {name: rows[name].tolist() for name in rows}
    print(json.dumps({"ms": elapsed / 1e6, "p99s": p99s.tolist(), **columns}), flush=True)
