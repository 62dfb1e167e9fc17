import { argumentError, OrielError } from "../errors.ts";
import { lines } from "../history/steps/lines.ts";
import { randomU32 } from "../random.ts";
import type { StructureKind } from "../registry/live.ts";
import type { Store } from "../store/contract.ts";
import { kindOf, offeredActions } from "./kinds/kinds.ts";
import type { AuditEntry } from "./protocol.ts";
import type { Scope } from "./scope.ts";

/** The key of the list of actions. */
export function actionsKeyOf(store: Pick<Store, "keyOf">): string {
  return `${store.keyOf("dashboard")}:actions`;
}

/** The server's time, by one round trip. */
export async function serverNowMs(store: Store): Promise<number> {
  const { nowMs } = await store.run(lines, actionsKeyOf(store), { line: "", isWanted: false });
  return nowMs;
}

/** Longest text of one field in the list of actions. */
const MAX_TEXT = 200;

/** The parameters of an action that its line has, beside its target. */
const PARAMETERS = ["duration", "tag"] as const;

/**
 * Does what an operator asked for, and adds it to the list of actions in the store. One line is written before the action,
 * so that no action is missing from the list, and one with its outcome after it. A line has no outcome if the process ended
 * in between, or if the effect is unknown.
 */
export async function act(scope: Scope, query: URLSearchParams, by: string | null): Promise<{ target: string }> {
  if (!scope.settings.allowsActions)
    throw new OrielError("ARGUMENT", "this dashboard allows no actions; start it with allowActions (--allow-actions)");
  const structure = await scope.structure(query.get("id"));
  const name = query.get("action") ?? "";
  const own = kindOf(structure.kind);
  const offered = offeredActions(own, scope.settings);
  if (Object.hasOwn(own.actions, name) && !offered.includes(name))
    throw new OrielError("ARGUMENT", `${name} needs an id in full, which this dashboard does not show (maskIds)`);
  if (!offered.includes(name))
    throw argumentError("action", name, `one of ${offered.join(", ") || "none"} for ${structure.kind}`);
  const id = randomU32();
  const asked = ["target", ...PARAMETERS].flatMap((each) => (query.has(each) ? [[each, cut(query.get(each)!)]] : []));
  const facts = { id, action: name, kind: structure.kind, name: cut(structure.name), target: "", by };
  await addLine(scope, { ...facts, ...Object.fromEntries(asked) });
  let outcome: AuditEntry["outcome"] = "failed";
  try {
    const done = await own.actions[name]!(scope, structure, query);
    outcome = "done";
    return done;
  } catch (error) {
    if (error instanceof OrielError && error.applied === "unknown") outcome = undefined;
    throw error;
  } finally {
    if (outcome) await addLine(scope, { id, outcome }).catch(() => {}); // the answer says what was done
  }
}

async function addLine({ store }: Scope, facts: object): Promise<void> {
  await store.run(lines, actionsKeyOf(store), { line: JSON.stringify(facts), isWanted: false });
}

/** What operators did, the latest first. */
export async function auditOf(scope: Scope): Promise<AuditEntry[]> {
  const { list } = await scope.store.run(lines, actionsKeyOf(scope.store), { line: "", isWanted: true });
  const found = list.split("\n").flatMap(factsOf);
  const outcomes = new Map(found.map(({ id, outcome }) => [id, outcome]));
  const entries = found.flatMap((facts) => entryOf(facts, outcomes.get(facts.id)) ?? []);
  return entries.reverse().map((entry) => {
    const { actions, idActions = {} } = kindOf(entry.kind as StructureKind);
    // Another version may know the action.
    const isId = !Object.hasOwn(actions, entry.action) || Object.hasOwn(idActions, entry.action);
    if (!isId) return entry;
    const { target, tag } = entry;
    return { ...entry, target: scope.ids.shown(target), ...(tag !== undefined && { tag: scope.ids.shown(tag) }) };
  });
}

type Facts = Readonly<Record<string, unknown>>;

/** Nothing of a line that another program wrote. */
function factsOf(line: string): Facts[] {
  const [, ms = "", json = ""] = /^(\d+) (\{.*\})$/.exec(line) ?? [];
  try {
    return [{ ...(JSON.parse(json) as Facts), atMs: Number(ms) }];
  } catch {
    return [];
  }
}

/** Undefined for the line of an outcome. */
function entryOf({ atMs, action, kind, name, target, by, ...more }: Facts, outcome: unknown): AuditEntry | undefined {
  if (action === undefined) return undefined;
  const texts = PARAMETERS.flatMap((each) => (typeof more[each] === "string" ? [[each, more[each]]] : []));
  return {
    atMs: Number(atMs),
    action: String(action),
    kind: String(kind),
    name: String(name),
    target: String(target),
    by: typeof by === "string" ? by : null,
    ...Object.fromEntries(texts),
    ...((outcome === "done" || outcome === "failed") && { outcome }),
  };
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
