import { idOf } from "../../../src/queue/format/layout.ts";
import type { SettleAndClaimRequest, SettleAndClaimResult } from "../../../src/queue/steps/settle-and-claim.ts";
import { lapseMs } from "../../../src/queue/worker/held-messages.ts";
import type { Store } from "../../../src/store/contract.ts";
import { machineMs, type Note } from "./notes.ts";

interface Extension {
  held: { member: string; deliveries: number }[];
  visibilityMs: number;
}

/** The store of a worker. It reports the server's answer about each delivery before the worker learns it. */
export function watchedStore(store: Store, report: (note: Note) => void): Store {
  const onTurn = (
    asked: SettleAndClaimRequest,
    { nowMs, statuses, claims }: SettleAndClaimResult,
    sentAtMs: number,
  ) => {
    for (const [i, { member, deliveries, verb }] of asked.settlements.entries())
      if (statuses[i] === "settled") report({ what: "settled", id: idOf(member), attempt: deliveries, verb });
    for (const { member, deliveries, sinceMs } of claims) {
      report({ what: "holds", id: idOf(member), attempt: deliveries, untilMs: lapseMs(sentAtMs, asked.visibilityMs) });
      if (sinceMs > nowMs)
        report({ what: "wrong", why: `${idOf(member)} came ${sinceMs - nowMs} ms before it was due` });
    }
  };
  const onExtended = ({ held, visibilityMs }: Extension, isOurs: readonly boolean[], sentAtMs: number) => {
    for (const [i, { member, deliveries }] of held.entries())
      if (isOurs[i])
        report({ what: "holds", id: idOf(member), attempt: deliveries, untilMs: lapseMs(sentAtMs, visibilityMs) });
  };
  return {
    ...store,
    run: async (operation, key, input, options) => {
      const sentAtMs = machineMs();
      const output = await store.run(operation, key, input, options);
      if (operation.name === "queue/settle-and-claim")
        onTurn(input as unknown as SettleAndClaimRequest, output as unknown as SettleAndClaimResult, sentAtMs);
      if (operation.name === "queue/extend")
        onExtended(input as unknown as Extension, output as unknown as boolean[], sentAtMs);
      return output;
    },
  };
}
