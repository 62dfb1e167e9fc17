import { argumentError } from "../../base/errors.ts";
import { type Closed, type Duration, durationMs } from "../../base/time.ts";
import type { ServerTyped } from "../config/redis-client.ts";
import type { Selection } from "../formats/reading.ts";
import { FORMATS, type Format } from "../formats/recognise.ts";
import type { ScaleChoice } from "../plot/axes/value-axis.ts";
import { pictureEnding } from "../plot/picture-file.ts";

/** The options from the argument parser, as typed. */
export interface TypedOptions extends ServerTyped {
  format?: string;
  time?: string;
  value?: string;
  key?: string;
  span: string;
  every?: string;
  percentiles: string;
  method: string;
  closed: string;
  values: string;
  lateness: string;
  retention?: string;
  name?: string;
  unit?: string;
  json?: boolean;
  empty?: boolean;
  plot?: string;
  scale: string;
  width: string;
}

export interface ReplayOptions extends ServerTyped {
  readonly file: string;
  readonly format: Format | undefined;
  readonly selection: Selection;
  readonly spanMs: number;
  readonly everyMs: number;
  readonly latenessMs: number;
  readonly retentionMs: number;
  readonly percentiles: readonly number[];
  readonly method: string;
  readonly closed: Closed;
  readonly values: "float32" | "float64";
  readonly name: string;
  readonly unit: string | undefined;
  readonly json: boolean;
  readonly empty: boolean;
  readonly plot: string | undefined;
  readonly scale: ScaleChoice;
  /** Of the picture. */
  readonly widthPx: number;
  readonly prefix: string | undefined;
}

const MAX_DURATION_MS = 366 * 86_400_000;
const MIN_WIDTH_PX = 320;
const MAX_WIDTH_PX = 4000;

/** Checks the options of a replay. Throws ARGUMENT, naming the option. The library checks percentiles and method. */
export function replayOptions(file: string, typed: TypedOptions): ReplayOptions {
  const duration = (option: string, text: string, minMs = 1) =>
    durationMs(option, typedDuration(text), minMs, MAX_DURATION_MS);
  const spanMs = duration("--span", typed.span);
  const everyMs = typed.every === undefined ? spanMs : duration("--every", typed.every);
  const latenessMs = duration("--lateness", typed.lateness, 0);
  // An event is recorded only while an open window covers it, so events older than span + lateness are never needed.
  const retentionMs =
    typed.retention === undefined ? spanMs + everyMs + latenessMs : duration("--retention", typed.retention);
  if (retentionMs < spanMs + latenessMs)
    throw argumentError("--retention", typed.retention, `at least --span + --lateness, ${spanMs + latenessMs} ms`);
  if (typed.plot !== undefined) pictureEnding(typed.plot);
  return {
    file,
    format: typed.format === undefined ? undefined : oneOf("--format", typed.format, FORMATS),
    selection: { time: typed.time, value: typed.value, key: typed.key },
    spanMs,
    everyMs,
    latenessMs,
    retentionMs,
    percentiles: percentilesOf(typed.percentiles),
    method: typed.method,
    closed: oneOf("--closed", typed.closed, ["right", "both"] as const),
    values: oneOf("--values", typed.values, ["float32", "float64"] as const),
    name: typed.name ?? nameOf(file),
    unit: typed.unit,
    json: typed.json ?? false,
    empty: typed.empty ?? false,
    plot: typed.plot,
    scale: oneOf("--scale", typed.scale, ["auto", "log", "linear"] as const),
    widthPx: widthOf(typed.width),
    redis: typed.redis,
    tls: typed.tls,
    prefix: typed.prefix,
  };
}

/** A duration as typed. A number without a unit is ms, as everywhere in oriel. */
export function typedDuration(text: string): Duration {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : (text as Duration);
}

function widthOf(text: string): number {
  const widthPx = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(widthPx >= MIN_WIDTH_PX && widthPx <= MAX_WIDTH_PX))
    throw argumentError("--width", text, `a whole number of pixels from ${MIN_WIDTH_PX} to ${MAX_WIDTH_PX}`);
  return widthPx;
}

/** Throws ARGUMENT. */
export function percentilesOf(text: string): number[] {
  const parts = text.split(",").map((part) => part.trim());
  const numbers = parts.map((part) => (part === "" ? Number.NaN : Number(part)));
  if (numbers.some((number) => !(number >= 0 && number <= 100)))
    throw argumentError("--percentiles", text, 'numbers from 0 to 100 separated by commas, like "50,99,99.9"');
  return [...new Set(numbers)];
}

function oneOf<const T extends string>(option: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((name) => name === text);
  if (found === undefined) throw argumentError(option, text, allowed.join(" or "));
  return found;
}

/** "logs/access.log" is "access"; standard input is "stdin". */
function nameOf(file: string): string {
  if (file === "-") return "stdin";
  const base = file.split(/[/\\]/).pop() as string;
  return base.replace(/(.)\.[^.]*$/, "$1") || "replay";
}
