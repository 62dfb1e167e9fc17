/** [what follows the number, size in the unit of the values, the smallest value that is shown so] */
type Step = readonly [label: string, size: number, from: number];

/** The unit of the values. 1200 is "1.2 s" in ms and "1.17 KiB" in bytes. */
export interface Unit {
  /** "ms", "bytes", any text of the user, or "none". */
  readonly name: string;
  /** True if the name must stand at the axis, because it does not stand at the numbers. */
  readonly isLabel: boolean;
  /** From the smallest to the largest. */
  readonly steps: readonly Step[];
}

/** Sizes in seconds. A minute and an hour begin at 2, because "90 s" reads better than "1.5 min". */
const TIMES: readonly Step[] = [
  [" ns", 1e-9, 1e-9],
  [" µs", 1e-6, 1e-6],
  [" ms", 1e-3, 1e-3],
  [" s", 1, 1],
  [" min", 60, 120],
  [" h", 3600, 7200],
  [" d", 86_400, 172_800],
];
const BYTES: readonly Step[] = [" B", " KiB", " MiB", " GiB", " TiB"].map((label, i) => [label, 1024 ** i, 1024 ** i]);
const NUMBERS: readonly Step[] = [
  ["", 1, 1],
  ["k", 1e3, 1e4],
  ["M", 1e6, 1e6],
  ["G", 1e9, 1e9],
  ["T", 1e12, 1e12],
];

/** Seconds in each unit of time. */
const SECONDS: Record<string, number> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };

/** The last words of names that say a unit. */
const WORDS: readonly (readonly [unit: string, words: readonly string[]])[] = [
  ["ns", ["ns", "nanos", "nanoseconds"]],
  ["us", ["us", "µs", "micros", "microseconds"]],
  ["ms", ["ms", "msec", "millis", "milliseconds"]],
  ["s", ["s", "sec", "secs", "seconds"]],
  ["bytes", ["bytes", "byte"]],
  // A number without a unit is ms, as everywhere in oriel.
  ["ms", ["latency", "duration", "elapsed"]],
];

/** A unit by its name. Other texts than ns, us, ms, s, bytes and none are a label for plain numbers. */
export function unitNamed(name: string): Unit {
  if (name === "bytes") return { name, isLabel: false, steps: BYTES };
  const seconds = Object.hasOwn(SECONDS, name) ? SECONDS[name] : undefined;
  if (seconds === undefined) return { name, isLabel: name !== "none", steps: NUMBERS };
  return { name, isLabel: false, steps: TIMES.map(([label, size, from]) => [label, size / seconds, from / seconds]) };
}

/** The unit that the name of a column says: "latency_ms", "sizeBytes" and "time (s)" do. Undefined if it says none. */
export function unitOfName(name: string): Unit | undefined {
  const words =
    name
      .replace(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[\p{Letter}\p{Number}]+/gu) ?? [];
  const last = words.at(-1) ?? "";
  const found = WORDS.find(([, known]) => known.includes(last));
  return found && unitNamed(found[0]);
}

/** The largest step that a value reaches; for 0 and for smaller values, the first one. */
export function stepOf(value: number, { steps }: Unit): Step {
  const size = Math.abs(value);
  return steps.filter(([, , from]) => from <= size).at(-1) ?? (steps[0] as Step);
}

/** A value with its unit in at most `digits` digits: "1.2 s", "350 ms", "12.5k". */
export function formatValue(value: number, unit: Unit, digits = 3): string {
  if (!Number.isFinite(value)) return "-";
  if (value === 0) return "0";
  const [, size] = stepOf(value, unit);
  const rounded = Number((value / size).toPrecision(digits)) * size;
  const [label, shownSize] = stepOf(rounded, unit); // 999.9 ms is 1 s
  return numberText(Number((value / shownSize).toPrecision(digits))) + label;
}

/** Whether the digits of a number of this size would be long. */
export function isLongText(size: number): boolean {
  return size >= 1e15 || (size < 1e-4 && size !== 0);
}

/** Plain digits, and powers of ten only where digits would be long. */
export function numberText(value: number): string {
  return isLongText(Math.abs(value)) ? value.toExponential().replace("e+", "e") : String(value);
}
