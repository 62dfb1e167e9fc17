import { publishScript } from "../../../generated/scripts/series.ts";
import type { Operation } from "../../../store/contract.ts";
import { sharedAt, storeShared } from "./ask.ts";

export interface Publication {
  /** The publishing process. */
  id: number;
  asOfMs: number;
  maxAgeMs: number;
  /** Empty: the process gives up its claim. */
  answer: Uint8Array;
}

/** Publishes an answer for all processes, or gives up the claim to compute it; law in lua/series/publish.lua. */
export const publish: Operation<Publication, undefined> = {
  name: "series/publish",
  script: publishScript,
  keyCount: 1,
  arity: 4,
  repeatable: true,
  encode: ({ id, asOfMs, maxAgeMs, answer }) => [id, asOfMs, maxAgeMs, answer],
  decode: () => undefined,
  local(keys, key, { id, asOfMs, maxAgeMs, answer }, nowMs) {
    const shared = { ...sharedAt(keys, key) };
    const isNewer = answer.length > 0 && (asOfMs > shared.asOfMs || shared.asOfMs > nowMs);
    if (!isNewer && shared.claimant !== id) return;
    if (shared.claimant === id) Object.assign(shared, { claimant: 0, claimEndMs: 0 });
    if (isNewer) Object.assign(shared, { publisher: id, asOfMs, wantedMs: 0, answer });
    storeShared(keys, key, shared, nowMs, maxAgeMs);
  },
};
