"""A percentile after every slide of a window of a fixed number of events, by pandas and by bottleneck.

Arguments: pandas or bottleneck, a file of little-endian float32 values, their count, events in the window, percentile,
repetitions. Prints one line of JSON: the median nanoseconds a slide, and the last slides' answers. bottleneck knows the
median only.
"""

import json
import sys
import time

import numpy as np


def pandas_quantile(values, window, percentile):
    import pandas

    rolling = pandas.Series(values).rolling(window)
    return lambda: rolling.quantile(percentile / 100).to_numpy()


def bottleneck_median(values, window, percentile):
    import bottleneck

    return lambda: bottleneck.move_median(values, window)


library, path, count, window, percentile, repetitions = sys.argv[1:]
values = np.fromfile(path, dtype="<f4", count=int(count)).astype("f8")
prepare = {"pandas": pandas_quantile, "bottleneck": bottleneck_median}[library]
run = prepare(values, int(window), float(percentile))
elapsed = []
for _ in range(int(repetitions)):
    start = time.perf_counter_ns()
    answers = run()
    elapsed.append(time.perf_counter_ns() - start)
slides = max(1, values.size - int(window) + 1)
print(json.dumps({"nanosecondsPerSlide": float(np.median(elapsed)) / slides, "answers": answers[-3:].tolist()}))
