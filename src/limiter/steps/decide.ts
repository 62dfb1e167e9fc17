import { script } from "../../generated/limiter/decide.ts";
import { script as withoutGrowth } from "../../generated/limiter/without-growth.ts";
import type { PackedStep } from "../../store/contract.ts";
import { packingOf } from "./packing.ts";
import type { DecideReply, DecideRequest } from "./request.ts";

type DecideStep = PackedStep<DecideRequest, DecideReply>;

const operations = new Map<string, DecideStep>();
let twin: DecideStep["local"] = () => {
  throw new Error("only memoryStore() and localDecisions() provide the local form of this step");
};

/**
 * Provides the local form of the step. `memoryStore` and `localDecisions` call it, so a bundle without them contains
 * none of that form.
 */
export function provideTwin(local: DecideStep["local"]): void {
  twin = local;
}

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
      script: grows ? script : withoutGrowth,
      keyCount,
      keysOf,
      repeatable,
      packing: packingOf(policies),
      local: (...step) => twin(...step),
    };
    operations.set(name, operation);
  }
  return operation;
}

export function keysOf(key: string, { keySuffixes }: DecideRequest): string[] {
  return keySuffixes.map((suffix) => key + suffix);
}
