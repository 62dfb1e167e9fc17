import { argumentError, checkKnown } from "../errors.ts";
import { placed } from "../place.ts";
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

export interface RejectOptions {
  /** Most passes a second, or most calls under way; 0: none. */
  count: number;
  /** What `count` bounds; default "rate". */
  grade?: "rate" | "concurrency";
}

/**
 * Denies what is more than `count`: passes a second in the node's short window, or calls under way. A prioritized call that
 * is one too many may be let in at the expense of a bucket to come ("rate" only): its passes are booked there, and it waits
 * until then. O(1), prioritized O(buckets). Source: Sentinel's DefaultController.
 */
export class RejectController implements TrafficShapingController {
  readonly #count: number;
  readonly #grade: "rate" | "concurrency";

  constructor(options: RejectOptions) {
    const { count, grade } = placed("RejectController", () => settingsOf(options));
    this.#count = count;
    this.#grade = grade;
  }

  tryPass(node: FlowNode, count = 1, options?: TryPassOptions): FlowDecision {
    checkPasses(count, "RejectController");
    checkAsked(node, options, "RejectController");
    const used = this.#grade === "rate" ? node.allowedPerSecond() : node.concurrency;
    if (used + count <= this.#count) return PASS;
    if (!options?.prioritized || this.#grade !== "rate") return DENY;
    const waitMs = node.tryOccupyNext(count, this.#count);
    if (waitMs === Infinity) return DENY;
    node.occupy(count, waitMs);
    return { allowed: true, waitMs };
  }
}

function settingsOf(options: RejectOptions): Required<RejectOptions> {
  checkKnown(options, ["count", "grade"]);
  const { count, grade = "rate" } = options;
  if (grade !== "rate" && grade !== "concurrency") throw argumentError("grade", grade, '"rate" or "concurrency"');
  return { count: atLeast("count", count, 0, grade === "rate" ? "passes a second" : "calls under way"), grade };
}
