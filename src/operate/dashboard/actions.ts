import { argumentError, OrielError } from "../../base/errors.ts";
import { randomU32 } from "../../base/random.ts";
import type { Store } from "../../store/contract.ts";
import { actions, type Fields } from "../history/steps/actions.ts";
import { lines } from "../history/steps/lines.ts";
import { kindOf, offeredActions } from "../kinds/kinds.ts";
import type { Scope } from "../kinds/scope.ts";
import type { AuditEntry } from "./protocol.ts";

/** The key of the stream of actions. */
export function actionsKeyOf(store: Pick<Store, "keyOf">): string {
  return `${store.keyOf("dashboard")}:audit`;
}

/** The server's time, by one round trip. */
export async function serverNowMs(store: Store): Promise<number> {
  const { nowMs } = await store.run(lines, store.keyOf("dashboard"), { line: "", isWanted: false });
  return nowMs;
}

/** Longest text of one field in the stream of actions. */
const MAX_TEXT = 200;

/** The parameters of an action that its entry has, beside its target. */
const PARAMETERS = ["duration", "tag"] as const;

/**
 * Does what an operator asked for, and adds it to the stream of actions in the store. One entry is added before the action,
 * so that no action is missing, and one with its outcome after it. The second is missing if the process ended in between,
 * or if the effect is unknown.
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
  const id = randomU32().toString(16);
  const asked = ["target", ...PARAMETERS].flatMap((each) => (query.has(each) ? [[each, query.get(each)!]] : []));
  const facts = { id, action: name, kind: structure.kind, name: structure.name, ...(by !== null && { by }) };
  await addEntry(scope, { ...facts, target: "", ...Object.fromEntries(asked) });
  let outcome: AuditEntry["outcome"] = "failed";
  try {
    const done = await own.actions[name]!(scope, structure, query);
    outcome = "done";
    return done;
  } catch (error) {
    if (error instanceof OrielError && error.applied === "unknown") outcome = undefined;
    throw error;
  } finally {
    if (outcome) await addEntry(scope, { id, outcome }).catch(() => {}); // the answer says what was done
  }
}

async function addEntry({ store }: Scope, fields: Fields): Promise<void> {
  const entry = Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, cut(text)]));
  await store.run(actions, actionsKeyOf(store), { entry, isWanted: false });
}

/** What operators did, the latest first. */
export async function auditOf(scope: Scope): Promise<AuditEntry[]> {
  const found = await scope.store.run(actions, actionsKeyOf(scope.store), { entry: undefined, isWanted: true });
  const outcomes = new Map(found.flatMap(([, { id, outcome }]) => (outcome === undefined ? [] : [[id, outcome]])));
  const entries = found.flatMap(([ms, fields]) => entryOf(ms, fields, outcomes.get(fields.id)) ?? []);
  return entries.map((entry) => {
    const { actions: its, idActions = {} } = kindOf(entry.kind);
    // Another version may know the action.
    const isId = !Object.hasOwn(its, entry.action) || Object.hasOwn(idActions, entry.action);
    if (!isId) return entry;
    const { target, tag } = entry;
    return { ...entry, target: scope.ids.shown(target), ...(tag !== undefined && { tag: scope.ids.shown(tag) }) };
  });
}

/** Undefined for the entry of an outcome, and for one that another program added. */
function entryOf(atMs: number, fields: Fields, outcome: string | undefined): AuditEntry | undefined {
  const { action, kind, name, target, by = null } = fields;
  if (action === undefined || kind === undefined || name === undefined || target === undefined) return undefined;
  const parameters = PARAMETERS.flatMap((each) => (fields[each] === undefined ? [] : [[each, fields[each]]]));
  const known = outcome === "done" || outcome === "failed" ? { outcome } : {};
  return { atMs, action, kind, name, target, by, ...Object.fromEntries(parameters), ...known };
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
