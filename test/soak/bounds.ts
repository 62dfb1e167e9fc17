import type { Crew } from "./crew.ts";
import type { KeyReport } from "./keys.ts";
import { excess, growth, type Sample } from "./memory/memory.ts";
import { MAX_RESIDENT_BYTES, type SoakPlan } from "./plan.ts";

/** A process without series: Node, the library, rounds under way. */
const CLIENT_BYTES = 64 << 20;
/** A series that is open, without its copy. */
const SERIES_BYTES = 20_000;
/** A server without keys; scripts, buffers of clients, the table of keys while it grows. */
const SERVER_BYTES = 64 << 20;
/** A key, its expiry, their places in two tables. */
const KEY_BYTES = 300;
/** A growing buffer may reserve as much room again. */
const ROOM = 2;
/** Before this time nothing has expired, and memory only grows. */
const STEADY_SECONDS = 465;

/** Compares the memory of clients and server with its bounds, and, in a long run, with earlier samples. */
export function judgeMemory(plan: SoakPlan, crew: Crew, server: readonly Sample[], keys: KeyReport): string[] {
  const clientBytes = CLIENT_BYTES + ROOM * MAX_RESIDENT_BYTES + plan.series * SERIES_BYTES;
  const serverBytes = SERVER_BYTES + keys.keys * KEY_BYTES + keys.bytes * ROOM;
  const wrong = [...crew.held]
    .filter(([, held]) => held.length > 0)
    .flatMap(([id, held]) => excess(`process ${id}`, held, clientBytes));
  wrong.push(...excess("the server", server.slice(-1), serverBytes));
  if (plan.seconds < STEADY_SECONDS) return wrong;
  wrong.push(...growth("the server", server, KEY_BYTES + (ROOM * keys.bytes) / keys.keys));
  for (let id = 0; id < plan.spared; id++) {
    wrong.push(...growth(`process ${id}`, crew.held.get(id)!, SERIES_BYTES));
    wrong.push(...growth(`process ${id}, its pages,`, crew.pages.get(id)!, SERIES_BYTES));
  }
  return wrong;
}
