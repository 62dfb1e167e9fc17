"""Computes numpy-golden.json: what NumPy answers for 184 columns, as bit patterns.

Run with NumPy 2.4.1 or later (2.4.0 answers lists of percentiles of float32 differently):
python3 numpy-golden.py > numpy-golden.json

Columns are not stored: each is made from its seed by the generator below. Results are big-endian hexadecimal, 8 digits
for float32 and 16 for float64; "nan" for NaN.
"""
import json
import math
import struct
import sys
import warnings

import numpy as np

SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 100, 101, 127, 128, 129, 136, 255, 256, 257, 1000, 1001, 4099]
PERCENTS = [0, 0.1, 1, 5, 7, 14, 25, 28, 29, 33.3, 50, 55, 57, 58, 66.6, 75, 90, 95, 99, 99.9, 99.99, 100]
METHODS = [
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
]
KINDS = {
    "u24": lambda x: (x >> 8) / 2**24,
    "ties": lambda x: float((x >> 24) % 17),
    "wide": lambda x: (((x >> 9) & 0x7FFFFF) | 1) * 2.0 ** ((x & 63) - 40) * (-1 if x & 64 else 1),
    "offset": lambda x: 1e6 + ((x >> 12) & 15) * 0.125,
}
FORMULAS = {
    "u24": "(x>>>8)/2^24",
    "ties": "(x>>>24)%17",
    "wide": "(((x>>>9)&0x7fffff)|1)*2^((x&63)-40), negated when bit 6 of x is 1",
    "offset": "1e6+((x>>>12)&15)*0.125",
}


def column(kind, n, seed, dtype):
    values, x = [], seed
    for _ in range(n):
        x = (1664525 * x + 1013904223) % 2**32
        values.append(KINDS[kind](x))
    return np.array(values, dtype=dtype)


def bits(number, width):
    if math.isnan(number):
        return "nan"
    return struct.pack(">f" if width == 8 else ">d", number).hex()


def case(kind, n, dtype):
    seed = n * 7919 + len(kind)
    values = column(kind, n, seed, dtype)
    width = 8 if dtype == "f4" else 16
    own = lambda number: bits(float(number), width)
    f8 = lambda number: bits(float(number), 16)
    answers = {
        "kind": kind, "n": n, "seed": seed, "dtype": dtype,
        "sum": own(values.sum()), "mean": own(values.mean()), "std0": own(values.std()), "var0": own(values.var()),
        "std1": own(values.std(ddof=1)), "min": own(values.min()), "max": own(values.max()),
        "sum_f64acc": f8(values.sum(dtype=np.float64)), "std0_f64acc": f8(values.std(dtype=np.float64)),
        "fsum": f8(math.fsum(values.tolist())),
    }
    if kind in ("u24", "wide") or n in (5, 100, 101, 1000):
        answers["pct"] = {
            method: [own(np.percentile(values, float(q), method=method)) for q in PERCENTS] for method in METHODS
        }
        if dtype == "f4":
            listed = np.percentile(values, PERCENTS, method="linear")
            answers["pct_linear_arrayq_f8"] = [f8(number) for number in listed]
    return answers


warnings.simplefilter("ignore")  # ddof of 1 among one value
cases = [case(kind, n, dtype) for kind in KINDS for n in SIZES for dtype in ("f4", "f8")]
json.dump(
    {"numpy": np.__version__, "lcg": "x=(1664525*x+1013904223) mod 2^32, first output after one step",
     "kinds": FORMULAS, "q": PERCENTS, "cases": cases},
    sys.stdout,
)
