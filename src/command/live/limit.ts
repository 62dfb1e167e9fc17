import { argumentError, needlessArgument, OrielError } from "../../base/errors.ts";
import { type Decision, type Duration, Limiter, type Store } from "../../entries/index.ts";
import { age, asTyped } from "../../operate/format.ts";
import { openLimiter } from "../../operate/kinds/limiter.ts";
import { typedPolicy } from "../../operate/kinds/policies.ts";
import { openStore } from "../config/open-store.ts";
import type { ServerTyped } from "../config/redis-client.ts";
import { colorsFor, Output, type Streams, widthOf } from "../output.ts";
import { typedDuration } from "../replay/options.ts";
import { jsonLine, safeText } from "../text/safe-text.ts";
import { tableLines } from "./columns.ts";
import { type Found, find } from "./find.ts";

export interface LimitTyped extends ServerTyped {
  policies?: string;
  cost?: string;
  tag?: string;
  json?: boolean;
}

interface Target {
  what: string;
  name: string;
  id: string;
  duration: string | undefined;
}

/** Shows, resets or blocks one id of a limiter. Resolves to 0. */
export async function limit(target: Target, typed: LimitTyped, streams: Streams): Promise<number> {
  const { what, name, id } = target;
  const block = checkTarget(target, typed);
  const cost = typed.cost === undefined ? 1 : costOf(typed.cost);
  const store = openStore(typed);
  const output = new Output(streams.stdout);
  const tag = typed.tag === undefined ? {} : { tag: typed.tag };
  try {
    const limiter = limiterOf(store, await find(store, name, "Limiter", "Limiter"), typed.policies);
    if (what === "reset") {
      await limiter.reset(id, tag);
      await output.write(typed.json ? jsonLine({ name, id, isReset: true }) : `${shown(name, id)}: reset\n`);
      return 0;
    }
    const decision =
      block === undefined ? await limiter.peek(id, { cost, ...tag }) : await limiter.block(id, block, tag);
    if (typed.json) await output.write(jsonLine({ name, id, ...decision }));
    else await output.write(decisionText(name, id, decision, streams));
    return 0;
  } finally {
    await store.close();
  }
}

/** Returns how long to block, or undefined for the other commands. Throws ARGUMENT. */
function checkTarget({ what, duration }: Target, { cost }: LimitTyped): Duration | undefined {
  if (cost !== undefined && what !== "peek") throw needlessArgument("--cost", cost, "only peek takes it");
  if (what === "block") {
    if (duration === undefined)
      throw argumentError("duration", duration, 'how long to block the id, like "10m"; 0 ends a block');
    return typedDuration(duration);
  }
  if (duration !== undefined) throw needlessArgument("duration", duration, "only block takes it");
  return undefined;
}

function costOf(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw argumentError("--cost", text, "a whole number of permits");
  return Number(text);
}

function shown(name: string, id: string): string {
  return `${safeText(name, 100)} ${safeText(id, 100)}`;
}

function decisionText(name: string, id: string, decision: Decision, { stdout }: Streams): string {
  const { allowed, policy, policies, retryAfterMs } = decision;
  const colors = colorsFor(stdout);
  const by = policy === "block" ? "blocked" : `denied by ${safeText(`${policy}`, 100)}`;
  const wait = waitText(retryAfterMs);
  const verdict = allowed ? colors.green("allowed") : `${colors.red(by)}${wait === "" ? "" : `, ${wait}`}`;
  const [head = "", ...rows] = tableLines(
    [
      { head: "policy", cells: policies.map((each) => each.name), rank: 0, minWidth: 12 },
      { head: "kind", cells: policies.map((each) => each.kind), rank: 2 },
      { head: "left", cells: policies.map((each) => `${each.remaining}`), rank: 0, isRight: true },
      { head: "limit", cells: policies.map((each) => `${each.limit}`), rank: 0, isRight: true },
      { head: "span", cells: policies.map((each) => asTyped(each.spanMs)), rank: 1, isRight: true },
      { head: "all free in", cells: policies.map((each) => age(each.resetAfterMs)), rank: 3, isRight: true },
      { head: "shadow", cells: policies.map((each) => (each.shadow ? "yes" : "no")), rank: 4 },
    ],
    widthOf(stdout),
  );
  return [`${shown(name, id)}: ${verdict}`, colors.bold(head), ...rows].map((line) => `${line}\n`).join("");
}

function waitText(retryAfterMs: number): string {
  return retryAfterMs === Number.POSITIVE_INFINITY ? "however long you wait" : `for ${age(retryAfterMs)}`;
}

const EXAMPLE = `--policies '[{"kind":"sliding-window","limit":100,"span":"1m"}]'`;

/** A limiter with the policies that were typed, else those of the registry. Throws ARGUMENT. */
function limiterOf(store: Store, found: Found, typed: string | undefined): Limiter {
  const { name, settings, isListed, advice } = found;
  if (typed !== undefined) return new Limiter(store, listOf(typed).map(typedPolicy), { name });
  const shown = JSON.stringify(name);
  if (!isListed)
    throw new OrielError("ARGUMENT", `the registry lists no Limiter ${shown}${advice}; pass its policies: ${EXAMPLE}`);
  if (!Array.isArray(settings.policies))
    throw new OrielError(
      "ARGUMENT",
      `the policies of Limiter ${shown} depend on the id, by a function that only its processes have; pass those of this id: ${EXAMPLE}`,
    );
  return openLimiter(store, found);
}

function listOf(typed: string): Record<string, unknown>[] {
  let list: unknown;
  try {
    list = JSON.parse(typed);
  } catch {
    throw argumentError("--policies", typed, `a JSON array, like ${EXAMPLE}`);
  }
  if (!Array.isArray(list) || list.length === 0 || list.some((each) => typeof each !== "object" || each === null))
    throw argumentError("--policies", typed, `a JSON array of objects, like ${EXAMPLE}`);
  return list;
}
