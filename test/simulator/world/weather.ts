import type { Weather } from "./network.ts";
import type { Random } from "./random.ts";

/** The network's treatment of messages during a schedule. */
export function weatherOf(random: Random): Weather {
  const level = random.pick([0.01, 0.05, 0.2]);
  return {
    lostRequest: random.pick([0, level]),
    lostReply: random.pick([0, level, 2 * level]),
    repeated: random.pick([0, level, 2 * level]),
    repeatedLateMs: random.pick([100, 4_000, 8_000, 45_000]),
    slow: random.pick([0.02, level, 2 * level]),
    slowMs: random.pick([300, 3_000, 8_000]),
  };
}
