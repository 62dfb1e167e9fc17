import { argumentError, checkKnown } from "../../base/errors.ts";
import { argumentErrorOf, atSite } from "../../base/site.ts";

/**
 * A denial is a result, not an error. An allowed call goes on after `waitMs`. A prioritized call of RejectController and a call of
 * ClusterMetric with a wait are counted already. After any other wait the caller calls `addAllowed`.
 */
export interface FlowDecision {
  readonly allowed: boolean;
  readonly waitMs: number;
}

/** The part of a StatisticNode that flow rules read, and in which they book passes. */
export interface FlowNode {
  readonly concurrency: number;
  allowedPerSecond(): number;
  previousAllowedPerSecond(): number;
  tryOccupyNext(count: number, threshold: number, nowMs?: number): number;
  occupy(count: number, waitMs: number, nowMs?: number): void;
}

/** Options of `tryPass`. */
export interface TryPassOptions {
  /** Lets the call use a future bucket, after a wait; default false. */
  prioritized?: boolean | undefined;
}

/** Decides about a call synchronously; it never waits itself. Source: Sentinel's TrafficShapingController. */
export interface TrafficShapingController {
  /** Decides about `count` passes (default 1). If allowed, the caller then calls the node's `addAllowed`, see FlowDecision. */
  tryPass(node: FlowNode, count?: number, options?: TryPassOptions): FlowDecision;
}

export const PASS: FlowDecision = Object.freeze({ allowed: true, waitMs: 0 });
export const DENY: FlowDecision = Object.freeze({ allowed: false, waitMs: 0 });

export function checkPasses(count: number, structure: string): void {
  if (!Number.isSafeInteger(count) || count < 0)
    throw argumentErrorOf(structure, "count", count, "a whole number of passes, 0 or more");
}

/** Throws ARGUMENT for an invalid node or invalid options. */
export function checkAsked(node: FlowNode, options: TryPassOptions | undefined, structure: string): void {
  if (typeof node?.allowedPerSecond !== "function" || typeof node.previousAllowedPerSecond !== "function")
    throw argumentErrorOf(structure, "node", node, "a StatisticNode");
  if (options !== undefined) atSite(structure, () => checkTryPass(options));
}

function checkTryPass(options: TryPassOptions): void {
  checkKnown(options, ["prioritized"]);
  const { prioritized = false } = options;
  if (typeof prioritized !== "boolean") throw argumentError("prioritized", prioritized, "true or false");
}

/** Returns a finite `value` >= `min`; else throws ARGUMENT, which names `argument` and `unit`. */
export function atLeast(argument: string, value: number, min: number, unit: string): number {
  if (!Number.isFinite(value) || value < min)
    throw argumentError(argument, value, `a number of ${unit}, ${min} or more`);
  return value;
}
