import { argumentError } from "../../base/errors.ts";
import { durationMs } from "../../base/time.ts";
import type { Duration, Store } from "../../entries/index.ts";
import { openStore } from "../config/open-store.ts";
import type { ServerTyped } from "../config/server-typed.ts";
import { Output } from "../output.ts";
import { percentilesOf, typedDuration } from "../replay/options.ts";
import type { Streams } from "../streams.ts";
import { colorsFor, widthOf } from "../terminal.ts";
import { jsonLine } from "../text/json-line.ts";
import { oneLine } from "../text/safe-text.ts";
import { type Found, find, kindOf } from "./find.ts";
import { readingLines } from "./reading-lines.ts";
import { openView } from "./views/open-view.ts";
import type { View } from "./views/view.ts";

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
  return withView(name, typed, streams, false, async (view, found) => {
    const reading = await view.read();
    if (typed.json) await output.write(jsonLine({ kind: found.kind, name, ...reading.json }));
    else {
      const lines = readingLines(found, reading, widthOf(streams.stdout), colorsFor(streams.stdout));
      await output.write(lines.map((line) => `${line}\n`).join(""));
    }
    return 0;
  });
}

/** Finds a structure, opens it, and closes it after `use`. A name that is not listed is read as a series. */
export async function withView(
  name: string,
  typed: StatsTyped,
  streams: Streams,
  isRepeated: boolean,
  use: (view: View, found: Found) => Promise<number>,
): Promise<number> {
  const kind = kindOf(typed.kind);
  const options = { ...viewOptions(typed), isOverview: false };
  const store: Store & { close(): Promise<void> } = openStore(
    typed,
    // A warning would be in the middle of the screen.
    isRepeated && streams.stdout.isTTY === true ? { onWarning: () => {} } : {},
  );
  let view: View | undefined;
  try {
    const found = await find(store, name, kind, "Series");
    view = openView(store, found, options);
    if (!found.structure) streams.stderr.write(notice(found, typed.json));
    return await use(view, found);
  } finally {
    await view?.close();
    await store.close();
  }
}

function notice({ kind, name, advice }: Found, isJson: boolean | undefined): string {
  const shown = JSON.stringify(name);
  const message = `the registry does not list ${shown}; it is read as a ${kind} with default settings${advice}`;
  return isJson ? jsonLine({ code: "UNLISTED", message }) : `oriel: ${oneLine(message)}\n`;
}

function viewOptions({ span, percentiles, values, clock, retention }: StatsTyped) {
  if (values !== undefined && values !== "float32" && values !== "float64")
    throw argumentError("--values", values, "float32 or float64");
  if (clock !== undefined && clock !== "server" && clock !== "event")
    throw argumentError("--clock", clock, "server or event");
  const ms = (option: string, text: string) => durationMs(option, typedDuration(text) as Duration);
  return {
    spanMs: ms("--span", span),
    percentiles: percentilesOf(percentiles),
    values,
    clock,
    retentionMs: retention === undefined ? undefined : ms("--retention", retention),
  };
}
