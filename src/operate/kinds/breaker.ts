import { Breaker } from "../../limits/breaker/breaker.ts";
import { circuitKeyOf, flush } from "../../limits/breaker/flush.ts";
import type { FlushReply } from "../../limits/breaker/flush-format.ts";
import { type BreakerOptions, breakerSettings } from "../../limits/breaker/options.ts";
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
    const { state, calls, failures, slow, waitMs } = await readCircuit(scope, structure);
    const { rule } = breakerSettings(optionsOf(structure));
    const isBad = state !== "closed";
    const words = [...(isBad ? [`${age(waitMs)} left`] : []), ...(failures > 0 ? [`${failures} failed`] : [])];
    if (slow > 0) words.push(`${slow} slow`);
    const advice = isBad && { advice: "look at what it calls" };
    return { rate: (calls * 1000) / rule.spanMs, state: [state, ...words].join(", "), isBad, ...advice };
  },
  parts: {
    async state(scope, structure) {
      const { state, epoch, calls, failures, slow, waitMs } = await readCircuit(scope, structure);
      const nowMs = Math.max(epoch, await scope.nowMs());
      const body: BreakerPart = { state, sinceMs: epoch, nowMs, calls, failures, slow, retryAfterMs: waitMs };
      return { body };
    },
    async openings(scope, structure) {
      return { body: await openingsOf(scope, structure) };
    },
  },
  actions: {
    async open(scope, structure) {
      await breakerOf(scope, structure).open();
      return { target: "for one cooldown" };
    },
    async close(scope, structure) {
      await breakerOf(scope, structure).close();
      return { target: "with an empty window" };
    },
  },
};

export function readCircuit({ store }: Scope, structure: Identified): Promise<FlushReply> {
  const { rule } = breakerSettings(optionsOf(structure));
  return store.run(flush, circuitKeyOf(store, structure.name, rule.spanMs), { ...EMPTY_REPORT, rule });
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
    // A process that missed the half-open state does not know that a probe failed.
    if (areNumbers && CAUSES.includes(cause) && found.get(atMs)?.cause !== "probe")
      found.set(atMs, { atMs, cause, calls, failures, slow });
  }
  return [...found.values()].sort((a, b) => b.atMs - a.atMs).slice(0, MAX_SHOWN);
}
