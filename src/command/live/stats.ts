import { argumentError } from "../../base/errors.ts";
import { durationMs } from "../../base/time.ts";
import type { Duration } from "../../entries/index.ts";
import { dashboardSettings } from "../../operate/dashboard/options.ts";
import { Scope } from "../../operate/kinds/scope.ts";
import { openStore } from "../config/open-store.ts";
import type { ServerTyped } from "../config/redis-client.ts";
import { colorsFor, Output, type Streams, widthOf } from "../output.ts";
import { percentilesOf, typedDuration } from "../replay/options.ts";
import { jsonLine, oneLine } from "../text/safe-text.ts";
import { type Found, find, kindOf, listed } from "./find.ts";
import { type Reading, readingLines, readingOf } from "./readings.ts";

export interface StatsTyped extends ServerTyped {
  kind?: string;
  span: string;
  percentiles: string;
  values?: string;
  clock?: string;
  retention?: string;
  json?: boolean;
}

/** Prints the numbers of one structure. Resolves to 0. */
export async function stats(name: string, typed: StatsTyped, streams: Streams): Promise<number> {
  const output = new Output(streams.stdout);
  return withReader(name, typed, streams, false, async (read, found) => {
    const reading = await read();
    if (typed.json) await output.write(jsonLine({ kind: found.kind, name, ...reading.json }));
    else {
      const lines = readingLines(found, reading, widthOf(streams.stdout), colorsFor(streams.stdout));
      await output.write(lines.map((line) => `${line}\n`).join(""));
    }
    return 0;
  });
}

/** Finds a structure, and closes what its reads have opened after `use`. A name that is not listed is read as a series. */
export async function withReader(
  name: string,
  typed: StatsTyped,
  streams: Streams,
  isRepeated: boolean,
  use: (read: () => Promise<Reading>, found: Found) => Promise<number>,
): Promise<number> {
  const kind = kindOf(typed.kind);
  const { options, settings } = readOptions(typed);
  const store = openStore(
    typed,
    // A warning would be in the middle of the screen.
    isRepeated && streams.stdout.isTTY === true ? { onWarning: () => {} } : {},
  );
  const scope = new Scope(store, dashboardSettings({}));
  try {
    const found = await find(store, name, kind, "Series");
    if (["Breaker", "Counters", "SeriesGroup"].includes(found.kind)) listed(found);
    if (!found.isListed) streams.stderr.write(notice(found, typed.json));
    // The read of an unlisted series does not refuse a long span.
    const unlisted =
      found.kind === "Series" && !found.isListed ? { retention: Math.max(options.spanMs, 3_600_000) } : {};
    const structure = { ...found, id: name, settings: { ...unlisted, ...found.settings, ...settings } };
    return await use(() => readingOf(scope, structure, options), found);
  } finally {
    await scope.close();
    await store.close();
  }
}

function notice({ kind, name, advice }: Found, isJson: boolean | undefined): string {
  const shown = JSON.stringify(name);
  const message = `the registry does not list ${shown}; it is read as a ${kind} with default settings${advice}`;
  return isJson ? jsonLine({ code: "UNLISTED", message }) : `oriel: ${oneLine(message)}\n`;
}

/** The options of a read, and the settings that were typed for a series. */
function readOptions(typed: StatsTyped) {
  const { values, clock, retention } = typed;
  if (values !== undefined && values !== "float32" && values !== "float64")
    throw argumentError("--values", values, "float32 or float64");
  if (clock !== undefined && clock !== "server" && clock !== "event")
    throw argumentError("--clock", clock, "server or event");
  const ms = (option: string, text: string) => durationMs(option, typedDuration(text) as Duration);
  const spanMs = ms("--span", typed.span);
  const retentionMs = retention === undefined ? undefined : ms("--retention", retention);
  if (retentionMs !== undefined && spanMs > retentionMs)
    throw argumentError("--span", typed.span, `at most --retention, ${retentionMs} ms`);
  return {
    options: { spanMs, percentiles: percentilesOf(typed.percentiles) },
    settings: {
      ...(values !== undefined && { values }),
      ...(clock !== undefined && { clock }),
      ...(retentionMs !== undefined && { retention: retentionMs }),
    },
  };
}
