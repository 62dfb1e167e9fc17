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

/**
 * Does what an operator asked for, and adds it to the list of actions in the store. The line is written before the
 * action, so that no action is missing from the list: a line may name an action that then failed.
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
  const target = cut(query.get("target") ?? "");
  const line = JSON.stringify({
    id: randomU32(),
    action: name,
    kind: structure.kind,
    name: cut(structure.name),
    target,
    by,
  });
  await scope.store.run(lines, actionsKeyOf(scope.store), { line, isWanted: false });
  return own.actions[name]!(scope, structure, query);
}

/** What operators did, the latest first. */
export async function auditOf(scope: Scope): Promise<AuditEntry[]> {
  const { list } = await scope.store.run(lines, actionsKeyOf(scope.store), { line: "", isWanted: true });
  const entries = list.split("\n").flatMap((line) => entryOf(line) ?? []);
  return entries.reverse().map((entry) => {
    const { actions, idActions = {} } = kindOf(entry.kind as StructureKind);
    // Another version may know the action.
    const isId = !Object.hasOwn(actions, entry.action) || Object.hasOwn(idActions, entry.action);
    return isId ? { ...entry, target: scope.ids.shown(entry.target) } : entry;
  });
}

/** Undefined for a line that another program wrote. */
function entryOf(line: string): AuditEntry | undefined {
  const [, ms = "", json = ""] = /^(\d+) (\{.*\})$/.exec(line) ?? [];
  try {
    const { action, kind, name, target, by } = JSON.parse(json) as Record<string, unknown>;
    return {
      atMs: Number(ms),
      action: String(action),
      kind: String(kind),
      name: String(name),
      target: String(target),
      by: typeof by === "string" ? by : null,
    };
  } catch {
    return undefined;
  }
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
