import { argumentError, needlessArgument, OrielError } from "../../base/errors.ts";
import type { Duration } from "../../base/time.ts";
import type { BreakerStats, Store } from "../../entries/index.ts";
import { age, asTyped } from "../../operate/format.ts";
import { openBreaker } from "../../operate/kinds/breaker.ts";
import type { Described } from "../../operate/kinds/scope.ts";
import { readRegistry } from "../../store/registry/read-registry.ts";
import { openStore } from "../config/open-store.ts";
import type { ServerTyped } from "../config/redis-client.ts";
import { colorsFor, Output, type Streams, widthOf } from "../output.ts";
import { failureLines } from "../text/failure.ts";
import { jsonLine, safeText } from "../text/safe-text.ts";
import { tableLines } from "./columns.ts";
import { find, listed, matcherOf } from "./find.ts";

export interface BreakerTyped extends ServerTyped {
  json?: boolean;
  for?: string;
}

type Line = BreakerStats & { name: string; spanMs: number };

/** Lists breakers, or opens, closes or resets one. Resolves to 0, or to 1 if a listed breaker could not be read. */
export async function breaker(
  what: string,
  name: string | undefined,
  typed: BreakerTyped,
  streams: Streams,
): Promise<number> {
  if (what !== "ls" && name === undefined) throw argumentError("name", name, "the name of the breaker");
  if (typed.for !== undefined && what !== "open" && what !== "close")
    throw needlessArgument("--for", typed.for, `${what} has no length`);
  const store = openStore(typed);
  const output = new Output(streams.stdout);
  try {
    if (what === "ls") return await breakerLs(store, name, typed, streams, output);
    const own = openBreaker(store, listed(await find(store, name!, "Breaker", "Breaker")));
    const length = typed.for === undefined ? undefined : { for: typed.for as Duration };
    if (what === "reset") await own.reset();
    else await (what === "open" ? own.open(length) : own.close(length));
    const stats = own.stats();
    const leftMs = Math.max(stats.retryAfterMs, stats.forcedMs);
    const left = leftMs === 0 ? "" : ` for ${age(leftMs)}`;
    await output.write(typed.json ? jsonLine({ name, ...stats }) : `${safeText(name!, 200)}: ${stats.state}${left}\n`);
    return 0;
  } finally {
    await store.close();
  }
}

async function breakerLs(
  store: Store,
  pattern: string | undefined,
  { json }: BreakerTyped,
  streams: Streams,
  output: Output,
): Promise<number> {
  const { structures } = await readRegistry(store);
  const matches = matcherOf(pattern);
  const breakers = structures.filter(({ kind, name }) => kind === "Breaker" && matches(name));
  const all = await Promise.allSettled(breakers.map((each) => stateOf(store, each)));
  for (const each of all) if (each.status === "rejected") streams.stderr.write(refusalText(each.reason, json));
  const lines = all.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  if (json) await output.write(lines.map(jsonLine).join(""));
  else if (breakers.length === 0) await output.write("The registry lists no breaker that matches.\n");
  else await output.write(listText(lines, streams));
  return lines.length === breakers.length ? 0 : 1;
}

/** One damaged breaker does not hide the others. A failing server is the same for all of them. */
function refusalText(error: unknown, isJson: boolean | undefined): string {
  if (!(error instanceof OrielError) || !["CORRUPT", "ARGUMENT"].includes(error.code)) throw error;
  return failureLines(error, isJson);
}

async function stateOf(store: Store, structure: Described): Promise<Line> {
  const own = openBreaker(store, structure);
  await own.flush();
  return { name: structure.name, spanMs: Number(structure.settings.span), ...own.stats() };
}

function listText(lines: readonly Line[], { stdout }: Streams): string {
  const colors = colorsFor(stdout);
  const numbers = ["calls", "failures", "slow"] as const;
  const [head = "", ...rows] = tableLines(
    [
      { head: "breaker", cells: lines.map(({ name }) => name), rank: 0, minWidth: 12 },
      {
        head: "state",
        cells: lines.map(({ state }) => state),
        rank: 0,
        paint: (text, row) => (lines[row]!.state === "closed" ? colors.green : colors.red)(text),
      },
      ...numbers.map((head) => ({
        head: head as string,
        cells: lines.map((line) => `${line[head]}`),
        rank: head === "failures" ? 1 : 2,
        isRight: true,
      })),
      { head: "window", cells: lines.map(({ spanMs }) => asTyped(spanMs)), rank: 3, isRight: true },
      {
        head: "failing",
        cells: lines.map(({ failing, processes }) => `${failing} of ${processes}`),
        rank: 4,
        isRight: true,
      },
      {
        head: "forced for",
        cells: lines.map(({ forcedMs }) => (forcedMs === 0 ? "-" : age(forcedMs))),
        rank: 4,
        isRight: true,
      },
      {
        head: "retry in",
        cells: lines.map(({ state, retryAfterMs }) => (state === "closed" ? "-" : age(retryAfterMs))),
        rank: 1,
        isRight: true,
      },
    ],
    widthOf(stdout),
  );
  return [colors.bold(head), ...rows].map((line) => `${line}\n`).join("");
}
