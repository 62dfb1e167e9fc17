import { given, oneOf, type Schema, settingsOf } from "../../base/options.ts";
import { atSite } from "../../base/site.ts";
import {
  atLeast,
  checkAsked,
  checkPasses,
  DENY,
  type FlowDecision,
  type FlowNode,
  PASS,
  type TrafficShapingController,
  type TryPassOptions,
} from "./controller.ts";

/** Options of `RejectController`. */
export interface RejectOptions {
  /** Maximum passes per second, or maximum calls in progress; 0 allows none. */
  count: number;
  /** Whether `count` bounds the rate or the concurrency; default "rate". */
  grade?: "rate" | "concurrency" | undefined;
}

/**
 * Denies calls above `count`: passes per second in the node's short window, or calls in progress.
 * With "rate", a prioritized call above `count` may book its passes in a future bucket and wait until it begins.
 * Cost: O(1); for a prioritized call above `count`, that of the node's `tryOccupyNext`.
 * Source: Sentinel's DefaultController.
 */
export class RejectController implements TrafficShapingController {
  readonly #count: number;
  readonly #grade: "rate" | "concurrency";

  constructor(options: RejectOptions) {
    const { count, grade } = atSite("RejectController", () => {
      const { count, grade } = settingsOf(REJECT, options);
      return { count: atLeast("count", count, 0, grade === "rate" ? "passes a second" : "calls in progress"), grade };
    });
    this.#count = count;
    this.#grade = grade;
  }

  /** Allows the call if the node is below the bound. A prioritized call may borrow from the next bucket. */
  tryPass(node: FlowNode, count = 1, options?: TryPassOptions): FlowDecision {
    checkPasses(count, "RejectController");
    checkAsked(node, options, "RejectController");
    const used = this.#grade === "rate" ? node.allowedPerSecond() : node.concurrency;
    if (used + count <= this.#count) return PASS;
    if (!options?.prioritized || this.#grade !== "rate") return DENY;
    const waitMs = node.tryOccupyNext(count, this.#count);
    if (waitMs === Number.POSITIVE_INFINITY) return DENY;
    node.occupy(count, waitMs);
    return { allowed: true, waitMs };
  }
}

const REJECT = {
  count: [given<number>],
  grade: [oneOf, "rate", "rate", "concurrency"],
} as const satisfies Schema<RejectOptions>;
