"""Decodes the blocks of sealed chunks for read_series.py. src/engine/kernel/blocks/README.md describes their bytes."""

import numpy as np

BLOCK = np.dtype(
    [(name, "u1") for name in "form type order timing decimals shift".split()]
    + [(name, "<u2") for name in "count distinct runs exceptions head body order_bytes times nan plus minus".split()]
    + [("top", "<u4"), ("base", "<u8")]
)
RAW, DECIMAL, BITS = range(3)
NONE, INDEX, PERMUTATION, SPARSE = range(4)
EACH, RUNS, RAW_TIMES = range(3)
GROUP = 32


class Reader:
    """Reads numbers one after the other. Each list of numbers begins at a byte, with its lowest bit."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def bits(self, count):
        size = (count + 7) // 8
        self.at += size
        return int.from_bytes(self.data[self.at - size : self.at], "little")

    def plain(self, kind):
        number = np.frombuffer(self.data, kind, 1, self.at)[0]
        self.at += number.nbytes
        return int(number)

    def numbers(self, count, width):
        packed = self.bits(count * width)
        return [(packed >> i * width) & ((1 << width) - 1) for i in range(count)]

    def ascending(self, first, span, count):
        """`first`, and `count` numbers after it that are at most `first + span` (Elias-Fano)."""
        if count == 0 or span == 0:
            return [first] * (count + 1)
        low = max(0, span.bit_length() - (count + 2).bit_length())
        low += (span >> low) > count + 2
        ones = count + (span >> low)
        packed = self.bits(count * low + ones)
        places = [i for i in range(ones) if packed >> (count * low + i) & 1]
        lows = [(packed >> i * low) & ((1 << low) - 1) for i in range(count)]
        return [first] + [first + ((places[i] - i) << low) + lows[i] for i in range(count)]

    def samples(self, count, top):
        return self.ascending(0, top, (count - 1) // GROUP) + [top]

    def groups(self, samples, count, shift=0):
        found = []
        for i, start in enumerate(range(0, count, GROUP)):
            some = min(GROUP, count - start)
            highs = self.ascending(samples[i], samples[i + 1] - samples[i], some - 1)
            found += [(high << shift) | low for high, low in zip(highs, self.numbers(some, shift))]
        return found

    def ladder(self, count, top):
        return self.groups(self.samples(count, top), count)


def regular_values(head, data):
    """The values in ascending order, without the exceptions."""
    count, wide, shift = int(head["count"] - head["exceptions"]), head["type"] == 1, int(head["shift"])
    samples = Reader(data, BLOCK.itemsize).samples(count, int(head["top"]))
    offsets = Reader(data, int(head["head"])).groups(samples, count, shift)
    if head["form"] == DECIMAL:
        base, power = head["base"].view("<f8"), 10.0 ** int(head["decimals"])
        integers = base + np.array(offsets, "f8")
        return integers / power if wide else (integers * (1 / power)).astype("<f4")
    kind, top = ("<u8", 1 << 63) if wide else ("<u4", 1 << 31)
    keys = [int(head["base"]) + offset & 2 * top - 1 for offset in offsets]
    return np.array([key ^ (top if key & top else 2 * top - 1) for key in keys], kind).view("<f8" if wide else "<f4")


def ranks(head, ordered, data):
    """For each event in the order of arrival its place in `ordered`."""
    count, reader = int(head["count"]), Reader(data)
    if head["order"] == PERMUTATION:
        items = list(range(count))
        for start in range(0, count, GROUP):
            codes = reader.numbers(min(GROUP, count - start), (count - 1 - start).bit_length())
            for i, code in enumerate(codes, start):
                items[i], items[i + code] = items[i + code], items[i]
        return items
    bits = ordered.view("<u8" if head["type"] == 1 else "<u4")
    starts = np.flatnonzero(np.concatenate([[True], bits[1:] != bits[:-1]]))
    width = int(head["distinct"] - 1).bit_length()
    if head["order"] == INDEX:
        return starts[reader.numbers(count, width)]
    common, others, first, last = (reader.plain("<u2") for _ in range(4))
    places = reader.ladder(others, last - first)
    found = np.full(count, starts[common])
    found[first + np.array(places)] = starts[reader.numbers(others, width)]
    return found


def times_of(head, earliest, data):
    if head["timing"] == RAW_TIMES:
        return np.frombuffer(data, "<f8")
    reader = Reader(data)
    shortest, width = (reader.plain("<u2"), reader.plain("u1")) if head["timing"] == RUNS else (0, 0)
    lines = int(head["runs"] if head["timing"] == RUNS else head["count"])
    slope, top, first = reader.plain("<i4"), reader.plain("<u4"), reader.plain("<u4")
    numbers = np.array(reader.ladder(lines, top), "f8")
    times = earliest + (first + slope * np.arange(lines) + numbers)
    return np.repeat(times, shortest + np.array(reader.numbers(lines, width))) if head["timing"] == RUNS else times


def events_of(head, data, earliest):
    """Times and values of one block, in the order of arrival. `data`: head, body, order and times."""
    body = int(head["head"])
    order = body + int(head["body"])
    times = order + int(head["order_bytes"])
    kind = "<f8" if head["type"] == 1 else "<f4"
    if head["form"] == RAW:
        values = np.frombuffer(data[body:order], kind)
    else:
        exceptions = np.frombuffer(data, kind, head["exceptions"], body - head["exceptions"] * int(kind[2]))
        values = np.concatenate([regular_values(head, data), exceptions])
        if head["order"] != NONE:
            values = values[ranks(head, values, data[order:times])]
    return times_of(head, earliest, data[times:]), values
