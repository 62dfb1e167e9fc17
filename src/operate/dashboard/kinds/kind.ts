import type { StructureKind } from "../../../store/registry/live.ts";
import type { Column, RowNumbers } from "../protocol.ts";
import type { Listed, Scope } from "../scope.ts";

/** The numbers, parts and actions of one kind of structure. One file for each kind implements it; kinds.ts lists them. */
export interface DashboardKind {
  readonly kind: StructureKind;
  /** The columns of the overview that `numbers` fills. */
  readonly columns: readonly Column[];
  /** The numbers of one row over the last `spanMs`. Absent if a kind has none. */
  numbers?(scope: Scope, structure: Listed, spanMs: number): Promise<RowNumbers>;
  /** Answers to `api/part?id=...&part=...`, by name. */
  readonly parts: Readonly<Record<string, PartReader>>;
  /** Actions of an operator at `api/action?id=...&action=...`, by name. Only called with `allowActions`. */
  readonly actions: Readonly<Record<string, DashboardAction>>;
  /**
   * The actions whose target is the id of a user or a message. Under `maskIds` the list of actions shows it in part, and
   * there is no action on an id that the page has to show in full.
   */
  readonly idActions?: Readonly<Record<string, "typed" | "shown">>;
}

type PartReader = (scope: Scope, structure: Listed, query: URLSearchParams) => Promise<Part>;

interface Part {
  /** Sent as JSON. */
  readonly body: unknown;
  /** The same as CSV, for `format=csv`. */
  readonly csv?: () => string;
}

/** Does it, and resolves to what it was done to, for the list of actions. */
type DashboardAction = (scope: Scope, structure: Listed, query: URLSearchParams) => Promise<{ target: string }>;
