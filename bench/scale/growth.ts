import { playFleet } from "../../test/simulator/sharded/fleet.ts";
import { type FleetPlan, FULL_FLEET, SMALL_FLEET } from "../../test/simulator/sharded/plan.ts";
import type { Report, Row } from "../runner/report.ts";

export const FULL_GROWTH: FleetPlan = FULL_FLEET;
export const SMALL_GROWTH: FleetPlan = SMALL_FLEET;

/** A fleet over shards in virtual time, with faults, while it grows. Throws if an event is lost or doubled, or an answer is wrong. */
export async function benchGrowth(plan: FleetPlan): Promise<Report> {
  const { violations, seconds, ...outcome } = await playFleet(plan);
  if (violations.length > 0) throw new Error(`seed ${plan.seed}: ${violations.join("; ")}`);
  const empty = Object.fromEntries(Object.keys(seconds[0]!).map((column) => [column, ""]));
  const total = (what: string, count: number): Row => ({ what, count, ...empty });
  const [before, after] = plan.shards;
  return {
    bench: "growth",
    title: "Simulated processes over shards, with faults, while the number of shards grows",
    rows: [
      total("processes that record", plan.recorders),
      total("processes that ask", plan.askers),
      total("primaries", plan.primaries),
      total("processes killed", outcome.killed),
      total("processes that stood still", outcome.paused),
      total("requests written twice", outcome.copies),
      total("events acknowledged", outcome.acknowledged),
      total("of these lost", 0),
      total("counted twice", 0),
      total("events refused, or not answered in time", outcome.failed),
      total("of these refused for their old number of shards", outcome.mismatched),
      total("answers", outcome.answers),
      total("of these compared with every event", outcome.exact),
      total("with bounds, because a primary went or came meanwhile", outcome.bounded),
      total("not judged, because the list of shards changed or was away", outcome.late),
      total("about the present", outcome.answers - outcome.exact - outcome.bounded - outcome.late),
      total("wrong", 0),
      ...seconds.map((second) => ({ what: "", count: "", ...second })),
    ],
    notes: [
      `Seed ${plan.seed}. ${plan.seconds} virtual seconds, from ${before} to ${after} shards. A process records about once in ${plan.recordEveryMs} ms.`,
      "Counts, which no load of the machine changes. The same seed gives the same numbers.",
    ],
  };
}
