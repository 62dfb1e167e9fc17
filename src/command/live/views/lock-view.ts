import { Lock } from "../../../entries/index.ts";
import { age } from "../../../operate/format.ts";
import { nothingToClose, type OpenView } from "./view.ts";

/** The holder of a lock, and the number of processes that wait. */
export const lockView: OpenView = (store, found) => {
  const lock = new Lock(store, found.name);
  return {
    async read() {
      const state = await lock.inspect();
      const { isHeld, fence, leftMs, waitingProcesses } = state;
      return {
        facts: [
          ["state", isHeld ? "held" : "free"],
          ...(isHeld ? ([["fence", `${fence}`]] as const) : []),
          ...(isHeld ? ([["lease left", age(leftMs)]] as const) : []),
          ["waiting", `${waitingProcesses}`],
        ],
        json: { ...state },
        overview: { state: `${isHeld ? "held" : "free"}, ${waitingProcesses} waiting` },
      };
    },
    close: nothingToClose,
  };
};
