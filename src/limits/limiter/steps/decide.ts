import { decideScript, withoutGrowthScript } from "../../../generated/scripts/limiter.ts";
import type { PackedStep } from "../../../store/contract.ts";
import { packingOf } from "./packing.ts";
import { type DecideReply, type DecideRequest, keysOf, localForm } from "./request.ts";

type DecideStep = PackedStep<DecideRequest, DecideReply>;

const operations = new Map<string, DecideStep>();

/**
 * Asks all policies and takes from all of them or from none. lua/limiter/decide.lua states the rules.
 * There is one operation for each number of policies and keys, because steps that share a request must have one size.
 * A step that `grows` may need memory, so a full server refuses it. The others run as lua/limiter/without-growth.lua.
 */
export function decideFor(policies: number, keyCount: number, repeatable: boolean, grows = true): DecideStep {
  const name = `${policies} ${keyCount} ${repeatable} ${grows}`;
  let operation = operations.get(name);
  if (!operation) {
    operation = {
      name: grows ? "limiter/decide" : "limiter/without-growth",
      script: grows ? decideScript : withoutGrowthScript,
      keyCount,
      keysOf,
      repeatable,
      packing: packingOf(policies),
      local: (keys, key, request, nowMs) => localForm.decide(keys, key, request, nowMs),
    };
    operations.set(name, operation);
  }
  return operation;
}
