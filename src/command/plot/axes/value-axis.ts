import { scaleLinear, scaleLog } from "d3-scale";
import { isLongText, numberText, stepOf, type Unit } from "./units.ts";

/** As asked for: "auto" is logarithmic if the values need it. */
export type ScaleChoice = "auto" | "linear" | "log";

export interface ValueAxis {
  readonly isLog: boolean;
  /** False for values that this axis cannot show: NaN, those beyond 1e300, and on a logarithmic one those below 0. */
  has(value: number): boolean;
  yOf(value: number): number;
  readonly ticks: readonly { readonly y: number; readonly label: string }[];
}

/** A logarithmic axis is used if no value is negative and the positive ones are this far apart. */
const LOG_RATIO = 100;
/** Between 0, which then has a place of its own at the bottom, and the lowest positive tick. */
const ZERO_GAP_PX = 24;
const TICK_GAP_PX = 62;
/** Labels of a logarithmic axis that are nearer than this are left out. */
const MIN_TICK_GAP_PX = 20;

/** Larger values, and their multiples in smaller units, are near the end of what a double holds. */
const MAX_SHOWN = 1e300;

const isShown = (value: number) => Math.abs(value) <= MAX_SHOWN;

/** An axis for these values from `bottomPx` up to `topPx`. Values that no axis can show do not count. */
export function valueAxis(
  values: readonly number[],
  unit: Unit,
  choice: ScaleChoice,
  [bottomPx, topPx]: readonly [number, number],
): ValueAxis {
  const all = rangeOf(values) ?? [0, 1];
  const positive = rangeOf(values.filter((value) => value > 0));
  const isWide = all[0] >= 0 && positive !== null && positive[1] / positive[0] >= LOG_RATIO;
  if (choice === "linear" || (choice === "auto" && !isWide)) return linearAxis(all, unit, [bottomPx, topPx]);
  return logAxis(positive ?? [1, 10], values.includes(0), unit, [bottomPx, topPx]);
}

function rangeOf(values: readonly number[]): [min: number, max: number] | null {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (!isShown(value)) continue;
    min = Math.min(min, value);
    max = Math.max(max, value);
  }
  return min <= max ? [min, max] : null;
}

function linearAxis([min, max]: readonly [number, number], unit: Unit, range: readonly [number, number]): ValueAxis {
  const [label, size] = stepOf(Math.max(Math.abs(min), Math.abs(max)), unit);
  const ends = linearEnds(min / size, max / size);
  const count = Math.max(2, Math.round((range[0] - range[1]) / TICK_GAP_PX));
  const scale = scaleLinear(ends, range).nice(count);
  const isLong = isLongText(Math.max(...ends.map(Math.abs)));
  const format = isLong ? (tick: number) => numberText(Number(tick.toPrecision(6))) : scale.tickFormat(count);
  const ticks = scale.ticks(count).map((tick) => ({
    y: scale(tick),
    label: tick === 0 ? "0" : format(tick) + label,
  }));
  return { isLog: false, has: isShown, yOf: (value) => scale(value / size), ticks };
}

/** Steps between smaller values are near the least number that a double holds. */
const MIN_LINEAR = 1e-300;

/** From 0, unless the values vary little. A constant is in the middle; labels cannot show smaller differences. */
function linearEnds(min: number, max: number): [number, number] {
  if (Math.max(-min, max) < MIN_LINEAR) return [0, 1];
  if (max - min <= Math.max(-min, max) * 1e-9) return [min - Math.abs(min) * 0.1, max + Math.abs(max) * 0.1];
  if (min > 0 && min < max * 0.6) return [0, max];
  return max < 0 && max > min * 0.6 ? [min, 0] : [min, max];
}

function logAxis(
  [min, max]: readonly [number, number],
  hasZero: boolean,
  unit: Unit,
  [bottomPx, topPx]: readonly [number, number],
): ValueAxis {
  const candidates = logTicks(unit, min, max);
  const low = candidates.filter(({ value }) => value <= min).at(-1)?.value ?? min;
  const end = candidates.find(({ value }) => value >= max)?.value ?? max;
  const high = end > low ? end : low * 10; // if all values are equal
  const scale = scaleLog([low, high], [hasZero ? bottomPx - ZERO_GAP_PX : bottomPx, topPx]);
  const inside = candidates.filter(({ value }) => value >= low && value <= high * (1 + 1e-9));
  const majors = inside.filter(({ isMajor }) => isMajor);
  const ticks = hasZero ? [{ y: bottomPx, label: "0" }] : [];
  for (const { value, label } of majors.length >= 3 ? majors : inside) {
    const y = scale(value);
    if (ticks.every((tick) => Math.abs(tick.y - y) >= MIN_TICK_GAP_PX)) ticks.push({ y, label });
  }
  const has = (value: number) => isShown(value) && value >= 0;
  return { isLog: true, has, yOf: (value) => (value === 0 ? bottomPx : scale(value)), ticks };
}

/** 1, 2 and 5 times the powers of ten of each step of the unit, from below `min` to above `max`. Powers are major. */
function logTicks({ steps }: Unit, min: number, max: number) {
  const ticks: { value: number; label: string; isMajor: boolean }[] = [];
  for (const [i, [name, size]] of steps.entries()) {
    const endsAt = (steps[i + 1]?.[1] ?? Number.POSITIVE_INFINITY) * 0.9; // not 1000 KiB beside 1 MiB
    const first = i === 0 ? Math.min(0, Math.floor(Math.log10(min / size)) - 1) : 0;
    const last = Math.ceil(Math.log10(Math.min(endsAt, max * 10) / size)) + 1;
    for (let power = first; power <= last; power++)
      for (const times of [1, 2, 5]) {
        const number = Number(`${times}e${power}`);
        const value = number * size;
        if (value < endsAt && Number.isFinite(value) && value > 0)
          ticks.push({ value, label: String(number) + name, isMajor: times === 1 });
      }
  }
  return ticks;
}
