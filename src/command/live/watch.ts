import { setTimeout as pause } from "node:timers/promises";
import { argumentError } from "../../base/errors.ts";
import { durationMs } from "../../base/time.ts";
import type { Duration } from "../../entries/index.ts";
import { colorsFor, Output, type Streams } from "../output.ts";
import { typedDuration } from "../replay/options.ts";
import { failureText, partsOf } from "../text/failure.ts";
import { jsonLine, oneLine } from "../text/safe-text.ts";
import { cut } from "./columns.ts";
import type { Found } from "./find.ts";
import { type Reading, readingLines, readingText } from "./readings.ts";
import { Screen, stopAtSignals } from "./screen.ts";
import { type StatsTyped, withReader } from "./stats.ts";

export interface WatchTyped extends StatsTyped {
  every: string;
  count?: string;
}

const MAX_COUNT = 1_000_000_000;

/**
 * Prints the numbers of one structure again and again, until Ctrl-C. Resolves to 0, or to 2 if the last read failed. Rejects
 * if the first one fails.
 */
export async function watch(name: string, typed: WatchTyped, streams: Streams): Promise<number> {
  const everyMs = durationMs("--every", typedDuration(typed.every) as Duration, 100, 86_400_000);
  const count = countOf(typed.count);
  const output = new Output(streams.stdout);
  const stop = new AbortController();
  const ignoreSignals = stopAtSignals(stop);
  const print = printer(name, typed, streams, output);
  try {
    return await withReader(name, typed, streams, true, async (read, found) => {
      const beginMs = performance.now();
      let status = 0;
      for (let n = 0; n < count && !stop.signal.aborted && !output.isClosed; n++) {
        const waitMs = Math.max(0, beginMs + n * everyMs - performance.now());
        await pause(waitMs, undefined, { signal: stop.signal }).catch(() => {});
        if (stop.signal.aborted) break;
        status = await readOnce(read, found, print, n === 0);
      }
      return status;
    });
  } finally {
    ignoreSignals();
    await print.end();
  }
}

/** Returns 2 if the read failed. The first failure ends the command. */
async function readOnce(read: () => Promise<Reading>, found: Found, print: Printer, isFirst: boolean): Promise<number> {
  try {
    await print.reading(found, await read());
    return 0;
  } catch (error) {
    if (isFirst) throw error;
    await print.failure(found, error);
    return 2;
  }
}

interface Printer {
  reading(found: Found, reading: Reading): Promise<void>;
  failure(found: Found, error: unknown): Promise<void>;
  end(): Promise<void>;
}

/** A terminal shows the last reading in place, and keeps it at the end. A pipe gets a line for each. */
function printer(name: string, { json, every }: WatchTyped, { stdout }: Streams, output: Output): Printer {
  const time = () => new Date().toISOString();
  const end = async () => {};
  if (json)
    return {
      reading: ({ kind }, reading) => output.write(jsonLine({ time: time(), kind, name, ...reading.json })),
      failure: ({ kind }, error) => output.write(jsonLine({ time: time(), kind, name, error: partsOf(error) })),
      end,
    };
  const clock = () => time().slice(11, 19);
  if (stdout.isTTY !== true)
    return {
      reading: (_found, reading) => output.write(`${clock()} ${readingText(reading)}\n`),
      failure: (_found, error) => output.write(`${clock()} ${failureText(error)}`),
      end,
    };
  const screen = new Screen(output, stdout);
  const colors = colorsFor(stdout);
  let last: string[] = [];
  // The terminal itself writes ^C behind it.
  const foot = () => colors.dim(cut(`${clock()}Z · every ${every} · Ctrl-C ends`, screen.columns - 2));
  return {
    async reading(found, reading) {
      last = readingLines(found, reading, screen.columns, colors);
      await screen.draw([...last, "", foot()]);
    },
    async failure(_found, error) {
      await screen.draw([...last, "", colors.red(cut(oneLine(failureText(error)), screen.columns - 2))]);
    },
    async end() {
      await screen.close();
      await output.write(last.map((line) => `${line}\n`).join(""));
    },
  };
}

function countOf(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(count >= 1 && count <= MAX_COUNT))
    throw argumentError("--count", text, `a whole number from 1 to ${MAX_COUNT}`);
  return count;
}
