import { DelayQueue } from "../../../entries/index.ts";
import { age } from "../../../operate/format.ts";
import { nothingToClose, type OpenView, setting } from "./view.ts";

/** The number of messages in each state. */
export const queueView: OpenView = (store, found) => {
  const queue = new DelayQueue(store, found.name, { shards: setting(found, "shards") });
  return {
    async read() {
      const [counts, lagMs] = await Promise.all([queue.counts(), queue.lag()]);
      const { isPaused, waiting, due, claimed, dead } = counts;
      const parts = [...(isPaused ? ["paused"] : []), `${due} due`, `${waiting} waiting`, `${claimed} claimed`];
      return {
        facts: [
          ...Object.entries({ waiting, due, claimed, dead }).map(([name, count]) => [name, `${count}`] as const),
          ["lag", lagMs === 0 ? "none" : age(lagMs)],
          ...(isPaused ? [["paused", "yes"] as const] : []),
        ],
        json: { ...counts, lagMs },
        overview: { lagMs, state: [...parts, `${dead} dead`].join(", "), isBad: dead > 0 },
      };
    },
    close: nothingToClose,
  };
};
