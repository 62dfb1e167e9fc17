// How people read numbers: on the page of the dashboard, in the command and in the checks of the doctor. It imports nothing, since
// the page contains it.

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const NONE = "–";

/** Three significant digits or more, in at most seven characters. */
export function number(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return NONE;
  const size = Math.abs(value);
  if (size >= 1e15) return value.toExponential(1);
  for (const [unit, factor] of [
    ["T", 1e12],
    ["B", 1e9],
    ["M", 1e6],
  ] as const)
    if (size >= factor) return `${digits(value / factor)} ${unit}`;
  if (size >= 1000) return WHOLE.format(value);
  if (size > 0 && size < 0.001) return value.toExponential(1);
  return digits(value);
}

function digits(value: number): string {
  const size = Math.abs(value);
  if (Number.isInteger(value)) return String(value);
  return size < 1 ? String(Number(value.toPrecision(3))) : value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/** At most seven digits, and whole numbers in full, to be copied. NaN (no value) is "-". */
export function exact(value: number): string {
  if (Number.isNaN(value)) return "-";
  return Number.isSafeInteger(value) ? String(value) : String(Number(value.toPrecision(7)));
}

export function whole(value: number): string {
  return WHOLE.format(value);
}

/** "1 process", "2 processes". */
export function counted(count: number, noun: string): string {
  return `${whole(count)} ${noun}${count === 1 ? "" : noun.endsWith("s") ? "es" : "s"}`;
}

export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined) return NONE;
  const value = share * 100;
  if (value === 0 || value === 100) return `${value} %`;
  // Never shows 100 % for a share below it.
  return `${value > 99.99 ? (Math.floor(value * 1e4) / 1e4).toFixed(4) : value.toFixed(value < 0.1 || value > 99.9 ? 3 : value < 10 ? 2 : 1)} %`;
}

export function bytes(value: number | null): string {
  if (value === null) return NONE;
  let [left, unit] = [value, "B"];
  for (const next of ["KiB", "MiB", "GiB", "TiB"]) {
    if (left < 1024) break;
    [left, unit] = [left / 1024, next];
  }
  return `${digits(Math.round(left * 10) / 10)} ${unit}`;
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
] as const;

/** At most two units: "1 h 30 m", "5 m", "250 ms". */
export function duration(ms: number): string {
  const parts: string[] = [];
  let left = Math.round(ms);
  for (const [unit, size] of UNITS) {
    if (left < size || parts.length === 2) continue;
    parts.push(`${Math.floor(left / size)} ${unit}`);
    left %= size;
  }
  return parts.join(" ") || "0 ms";
}

/** A measured duration: "718 ms", "7.6 s", "42 s", "1 h 30 m". */
export function age(ms: number): string {
  if (ms < 9950) return ms < 1000 ? duration(Math.max(0, ms)) : `${(ms / 1000).toFixed(1)} s`;
  return duration(Math.round(ms / 1000) * 1000);
}

/** A duration as the options of oriel take it: "1h", "90s", "250ms". */
export function asTyped(ms: number): string {
  if (!Number.isFinite(ms)) return "-";
  const [unit, size] = UNITS.find(([, size]) => ms >= size && ms % size === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}

const pad = (value: number, length = 2) => String(value).padStart(length, "0");

/** Local time, with parts of a second only if there are some: "14:03:20", "14:03:20.250". */
export function time(ms: number): string {
  const date = new Date(ms);
  const text = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
  return ms % 1000 === 0 ? text : `${text}.${pad(date.getMilliseconds(), 3)}`;
}

export function dateTime(ms: number): string {
  const date = new Date(ms);
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${time(ms)}`;
}

/** A time of today without its date, in whole seconds unless it is exact. */
export function when(exactMs: number, isExact = false): string {
  const ms = isExact ? exactMs : Math.round(exactMs / 1000) * 1000;
  return new Date(ms).toDateString() === new Date().toDateString() ? time(ms) : dateTime(ms);
}

/** ISO 8601 in UTC, with ms only if they are not zero. */
export function instant(atMs: number): string {
  const date = new Date(atMs);
  return Number.isNaN(date.getTime()) ? `${atMs} ms` : date.toISOString().replace(".000Z", "Z");
}
