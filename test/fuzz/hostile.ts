import type { Random } from "../simulator/world/random.ts";

const NUMBERS = [
  ...[
    "nan",
    "inf",
    "-inf",
    "NaN",
    "Infinity",
    "-1",
    "-0",
    "0",
    "1.5",
    "1e400",
    "-1e400",
    "1e17",
    "-1e17",
    "",
    " ",
    "x",
    "0x10",
  ],
  ...[
    "99999999999999999999",
    "9007199254740993",
    "9007199254740991",
    "4294967296",
    "2147483648",
    "18446744073709551615",
  ],
];
const FLOATS = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  -1,
  -0,
  1e308,
  5e-324,
  2 ** 53,
  2 ** 63,
  -(2 ** 53),
  4102444800000,
];
const BYTES = [0, 1, 2, 16, 17, 0x7f, 0x80, 0xc3, 0xfe, 0xff];

const whole = (value: number) => Buffer.from(String(value));

/** Bytes that no structure has written, made from valid ones. */
export function spoiled(random: Random, bytes: Buffer): Buffer {
  const at = bytes.length === 0 ? 0 : random.int(0, bytes.length - 1);
  const copy = Buffer.from(bytes);
  switch (random.int(0, 13)) {
    case 0:
      return Buffer.alloc(0);
    case 1:
      return Buffer.of(random.pick(BYTES));
    case 2:
      return Buffer.from(random.pick(NUMBERS));
    case 3:
      return junk(random, random.int(0, 300));
    case 4:
      return bytes.subarray(0, at);
    case 5:
      return bytes.subarray(at);
    case 6:
      return Buffer.concat([bytes.subarray(0, at), junk(random, random.int(1, 9)), bytes.subarray(at)]);
    case 7:
      return Buffer.concat([bytes, bytes]);
    case 8:
      return put(copy, at, (view, place) => view.setFloat64(place, random.pick(FLOATS), random.chance(0.8)), 8);
    case 9:
      return put(
        copy,
        at,
        (view, place) => view.setUint32(place, random.pick([0, 1, 0x7fffffff, 0xffffffff]), true),
        4,
      );
    case 10:
      if (copy.length > 0) copy[0] = copy[0]! + 1; // a later format
      return copy;
    case 11:
      return Buffer.from(
        copy.toString("latin1").replace(/\d+/, () => random.pick(NUMBERS)),
        "latin1",
      );
    case 12: // as a page that was never written
      return copy.fill(0, at, random.int(at, copy.length));
    default:
      for (let flips = random.int(1, 6); flips > 0 && copy.length > 0; flips--)
        copy[random.int(0, copy.length - 1)]! ^= 1 << random.int(0, 7);
      return copy;
  }
}

export function hostileScore(random: Random, score: number): string {
  const near = score + random.pick([-1, 1, 0.5, 127, 128, 2 ** 42 * 128, -(2 ** 42) * 128]);
  return random.pick(["-5", "1.5", "1e17", "inf", "-inf", "0", "9007199254740993", `${near}`, `${random.u32()}`]);
}

function put(copy: Buffer, at: number, write: (view: DataView, place: number) => void, width: number): Buffer {
  if (copy.length < width) return whole(copy.length);
  // Mostly at the place of a number.
  const place = Math.min(at - (at % 4), copy.length - width);
  write(new DataView(copy.buffer, copy.byteOffset, copy.length), place);
  return copy;
}

export function junk(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.int(0, 255)));
}
