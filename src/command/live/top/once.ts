import type { StoreHealth } from "../../../operate/doctor/health/store-health.ts";
import { Output } from "../../output.ts";
import type { Streams } from "../../streams.ts";
import { colorsFor, widthOf } from "../../terminal.ts";
import { jsonLine } from "../../text/json-line.ts";
import { tableLines } from "../columns.ts";
import { EMPTY } from "../ls.ts";
import { columnsOf } from "./frame.ts";
import { healthLine } from "./health-line.ts";
import type { Row, Rows } from "./rows.ts";
import { FIRST_STATE, ordered } from "./state.ts";

/** Prints the health of the store and all structures. Resolves to 0, or to 1 if a structure could not be read. */
export async function printOnce(
  rows: Rows,
  health: StoreHealth,
  isJson: boolean,
  { stdout }: Streams,
): Promise<number> {
  await rows.read(rows.all);
  const output = new Output(stdout);
  const all = ordered(rows.all, FIRST_STATE);
  const colors = colorsFor(stdout);
  if (isJson) await output.write([{ health }, ...all.map(jsonOf)].map(jsonLine).join(""));
  else {
    const width = widthOf(stdout);
    await output.write(`${healthLine(health, width ?? Number.POSITIVE_INFINITY, colors)}\n`);
    const [head = "", ...lines] = tableLines(columnsOf(all, rows.registry.nowMs, colors), width);
    const table = [colors.bold(head), ...lines].map((line) => `${line}\n`).join("");
    await output.write(all.length === 0 ? EMPTY : table);
  }
  return all.some(({ failure }) => failure !== undefined) ? 1 : 0;
}

function jsonOf({ kind, name, structure, overview, failure }: Row): Record<string, unknown> {
  const { rate = null, p99 = null, denied = null, lagMs = null, state = null, isBad = false } = overview ?? {};
  const { processes, seenMs, conflict } = structure;
  const others = { ...(conflict && { conflict }), ...(failure !== undefined && { failure }) };
  return { kind, name, rate, p99, denied, lagMs, state, isBad, processes, seenMs, ...others };
}
