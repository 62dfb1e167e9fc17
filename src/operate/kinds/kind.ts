import type { Columns, RowNumbers } from "../dashboard/protocol.ts";
import type { Identified, Open, Scope } from "./scope.ts";

/**
 * How one kind of structure is opened, read and changed by operators: on the dashboard, and by the command. One file for each
 * kind has it, and `kinds.ts` lists them.
 */
export interface Kind {
  /**
   * Opens the structure by its settings, and announces nothing else than they say. Absent if the kind is read by its keys alone,
   * or needs more than the registry knows.
   */
  readonly open?: Open<unknown>;
  /** The columns of the list that `numbers` fills. */
  readonly columns: Columns;
  /**
   * The numbers of one row over the last `spanMs`, with as many sums for its trend as `parts` says, and whether the structure
   * is in a state that an operator should end. Absent if a kind has none.
   */
  numbers?(scope: Scope, structure: Identified, span: RowSpan): Promise<RowNumbers>;
  /** Answers to `api/part?id=...&part=...`, by name. */
  readonly parts: Readonly<Record<string, PartReader>>;
  /** Actions of an operator at `api/action?id=...&action=...`, by name. Only called with `allowActions`. */
  readonly actions: Readonly<Record<string, Action>>;
  /**
   * The actions whose target is the id of a user or a message. Under `maskIds` the list of actions shows it in part, and
   * there is no action on an id that the page has to show in full.
   */
  readonly idActions?: Readonly<Record<string, "typed" | "shown">>;
}

interface RowSpan {
  readonly spanMs: number;
  readonly parts: number;
}

type PartReader = (scope: Scope, structure: Identified, query: URLSearchParams) => Promise<Part>;

interface Part {
  /** Sent as JSON. */
  readonly body: unknown;
  /** The same as CSV, for `format=csv`. */
  readonly csv?: () => string;
}

/** Does it, and resolves to what it was done to, for the list of actions. */
type Action = (scope: Scope, structure: Identified, query: URLSearchParams) => Promise<{ target: string }>;
