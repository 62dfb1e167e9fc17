import type { Duration } from "../../base/time.ts";
import { Breaker } from "../../limits/breaker/breaker.ts";
import { circuitKeyOf, flush } from "../../limits/breaker/flush.ts";
import type { FlushReply } from "../../limits/breaker/flush-format.ts";
import { forcedMsOf } from "../../limits/breaker/gate.ts";
import { type BreakerOptions, breakerSettings } from "../../limits/breaker/options.ts";
import { hasQuorum } from "../../limits/breaker/rule.ts";
import type { BreakerOpening, BreakerPart } from "../dashboard/parts.ts";
import { age } from "../format.ts";
import { openingsKey } from "../history/names.ts";
import { objectsIn } from "../history/read-outcomes.ts";
import { lines } from "../history/steps/lines.ts";
import type { Kind } from "./kind.ts";
import type { Described, Identified, Open, Scope } from "./scope.ts";

/** A report without calls, of no process. It reads the circuit. */
const EMPTY_REPORT = { id: "oriel-dashboard!", sequence: 0, batch: [], settled: [], wanted: 0, first: 0 };

/** Its constructor checks the settings. */
export const openBreaker: Open<Breaker> = (store, structure) => new Breaker(store, optionsOf(structure));

/** Breakers: the shared circuit. An operator may open and close it. */
export const breakerKind: Kind = {
  open: openBreaker,
  columns: ["rate"],
  async numbers(scope, structure) {
    const reply = await readCircuit(scope, structure);
    const { state, calls, failures, slow, waitMs, callers, seeing } = reply;
    const { rule } = breakerSettings(optionsOf(structure));
    const isBad = state !== "closed";
    const words = [...(isBad ? [`${age(waitMs)} left`] : []), ...(failures > 0 ? [`${failures} failed`] : [])];
    if (slow > 0) words.push(`${slow} slow`);
    if (seeing > 0 && hasQuorum(rule)) words.push(`in ${seeing} of ${callers} processes`);
    const forcedMs = forcedMsOfReply(reply);
    if (forcedMs > 0) words.push(isBad ? "forced" : `forced for ${age(forcedMs)}`);
    const advice = isBad && { advice: "look at what it calls" };
    return { rate: (calls * 1000) / rule.spanMs, state: [state, ...words].join(", "), isBad, ...advice };
  },
  parts: {
    async state(scope, structure) {
      const reply = await readCircuit(scope, structure);
      const { state, epoch, calls, failures, slow, waitMs, callers, seeing } = reply;
      const nowMs = Math.max(epoch, await scope.nowMs());
      const counts = { calls, failures, slow, processes: callers, failing: seeing };
      const forcedMs = forcedMsOfReply(reply);
      const body: BreakerPart = { state, sinceMs: epoch, nowMs, ...counts, retryAfterMs: waitMs, forcedMs };
      return { body };
    },
    async openings(scope, structure) {
      return { body: await openingsOf(scope, structure) };
    },
  },
  actions: {
    async open(scope, structure, query) {
      const length = lengthOf(query);
      await breakerOf(scope, structure).open(length);
      return { target: length ? `for ${length.for}` : "for one cooldown" };
    },
    async close(scope, structure, query) {
      const length = lengthOf(query);
      await breakerOf(scope, structure).close(length);
      return { target: length ? `for ${length.for}, whatever fails` : "with an empty window" };
    },
    async reset(scope, structure) {
      await breakerOf(scope, structure).reset();
      return { target: "as a new one" };
    },
  },
};

export function readCircuit({ store }: Scope, structure: Identified): Promise<FlushReply> {
  const { rule } = breakerSettings(optionsOf(structure));
  return store.run(flush, circuitKeyOf(store, structure.name, rule.spanMs), { ...EMPTY_REPORT, rule });
}

export function forcedMsOfReply({ state, cause, waitMs, heldMs }: FlushReply): number {
  return forcedMsOf(state, cause, waitMs, heldMs);
}

/** The breaker checks the text. */
function lengthOf(query: URLSearchParams): { for: Duration } | undefined {
  const text = query.get("duration");
  return text === null || text === "" ? undefined : { for: text as Duration };
}

function breakerOf(scope: Scope, structure: Identified): Breaker {
  return scope.opened(structure, openBreaker);
}

/** The settings of the registry are foreign JSON, which the breaker checks. */
function optionsOf({ name, settings }: Described): BreakerOptions {
  return { ...settings, name } as BreakerOptions;
}

const MAX_SHOWN = 100;
const CAUSES = ["calls", "probe", "order"];

/** The openings of a circuit, the latest first. */
async function openingsOf({ store }: Scope, { name }: Described): Promise<BreakerOpening[]> {
  const { list } = await store.run(lines, openingsKey(store, name), { line: "", isWanted: true });
  const found = new Map<number, BreakerOpening>();
  for (const each of objectsIn(list)) {
    const { atMs, cause, calls, failures, slow } = each as unknown as BreakerOpening;
    const areNumbers = [atMs, calls, failures, slow].every((value) => typeof value === "number");
    if (areNumbers && CAUSES.includes(cause)) found.set(atMs, { atMs, cause, calls, failures, slow });
  }
  return [...found.values()].sort((a, b) => b.atMs - a.atMs).slice(0, MAX_SHOWN);
}
