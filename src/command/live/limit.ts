import { argumentError, needlessArgument, OrielError } from "../../base/errors.ts";
import { type Decision, type Duration, Limiter, type Policy } from "../../entries/index.ts";
import { age } from "../../operate/format.ts";
import { announcedPolicies, typedPolicy } from "../../operate/kinds/policies.ts";
import { quotaText } from "../../operate/kinds/policy-text.ts";
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
    const policies = policiesOf(await find(store, name, "Limiter", "Limiter"), typed.policies);
    const limiter = new Limiter(store, policies, { name });
    if (what === "reset") {
      await limiter.reset(id, tag);
      await output.write(typed.json ? jsonLine({ name, id, isReset: true }) : `${shown(name, id)}: reset\n`);
      return 0;
    }
    const decision =
      block === undefined ? await limiter.peek(id, { cost, ...tag }) : await limiter.block(id, block, tag);
    if (typed.json) await output.write(jsonLine({ name, id, ...decision }));
    else await output.write(decisionText(name, id, decision, policies, streams));
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

function decisionText(
  name: string,
  id: string,
  decision: Decision,
  given: readonly Policy[],
  { stdout }: Streams,
): string {
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
      {
        head: "limit",
        cells: policies.map((each) => quotaText(given.find(({ name }) => name === each.name))),
        rank: 0,
      },
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

/** The policies that were typed, else those of the registry. Throws ARGUMENT. */
function policiesOf({ name, settings, isListed, advice }: Found, typed: string | undefined): Policy[] {
  if (typed !== undefined) return listOf(typed).map(typedPolicy);
  const shown = JSON.stringify(name);
  if (!isListed)
    throw new OrielError("ARGUMENT", `the registry lists no Limiter ${shown}${advice}; pass its policies: ${EXAMPLE}`);
  if (!Array.isArray(settings.policies))
    throw new OrielError(
      "ARGUMENT",
      `the policies of Limiter ${shown} depend on the id, by a function that only its processes have; pass those of this id: ${EXAMPLE}`,
    );
  return announcedPolicies(settings.policies);
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
