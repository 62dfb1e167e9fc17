import { argumentError, checkKnown } from "../errors.ts";
import { argumentErrorOf, placed } from "../place.ts";

/** A denial is an answer. Allowed with a wait: the call may go on after so many ms, and is counted already. */
export interface FlowDecision {
  readonly allowed: boolean;
  readonly waitMs: number;
}

/** What rules read of a resource and book with it; a StatisticNode is one. */
export interface FlowNode {
  readonly concurrency: number;
  allowedPerSecond(): number;
  previousAllowedPerSecond(): number;
  tryOccupyNext(count: number, threshold: number, nowMs?: number): number;
  occupy(count: number, waitMs: number, nowMs?: number): void;
}

export interface TryPassOptions {
  /** May be let in at the expense of a bucket to come, after a wait; default false. */
  prioritized?: boolean;
}

/** Decides about a call, at once and without waiting itself. Source: Sentinel's TrafficShapingController. */
export interface TrafficShapingController {
  /** For `count` passes (default 1). Who is allowed without a wait adds them to the node: `addAllowed`. */
  tryPass(node: FlowNode, count?: number, options?: TryPassOptions): FlowDecision;
}

export const PASS: FlowDecision = Object.freeze({ allowed: true, waitMs: 0 });
export const DENY: FlowDecision = Object.freeze({ allowed: false, waitMs: 0 });

export function checkPasses(count: number, structure: string): void {
  if (!Number.isSafeInteger(count) || count < 0)
    throw argumentErrorOf(structure, "count", count, "a whole number of passes, 0 or more");
}

/** Throws ARGUMENT for what is no node, and for wrong options. */
export function checkAsked(node: FlowNode, options: TryPassOptions | undefined, structure: string): void {
  if (typeof node?.allowedPerSecond !== "function" || typeof node.previousAllowedPerSecond !== "function")
    throw argumentErrorOf(structure, "node", node, "a StatisticNode");
  if (options !== undefined) placed(structure, () => checkTryPass(options));
}

function checkTryPass(options: TryPassOptions): void {
  checkKnown(options, ["prioritized"]);
  const { prioritized = false } = options;
  if (typeof prioritized !== "boolean") throw argumentError("prioritized", prioritized, "true or false");
}

/** A number of what `unit` says, from `least` on; throws ARGUMENT, naming `argument`. */
export function atLeast(argument: string, value: number, least: number, unit: string): number {
  if (!Number.isFinite(value) || value < least)
    throw argumentError(argument, value, `a number of ${unit}, ${least} or more`);
  return value;
}
