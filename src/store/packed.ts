import { OrielError } from "../errors.ts";
import type { Call } from "./call.ts";
import type { Packing } from "./contract.ts";

/** What calls of a step of fixed sizes send: their inputs, one after the other. */
export function pack(calls: readonly Call[], packing: Packing<unknown, unknown>): Uint8Array {
  const bytes = new Uint8Array(calls.length * packing.inputBytes);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < calls.length; i++) packing.write(view, i * packing.inputBytes, calls[i]!.input);
  return bytes;
}

/** The reply of lua/store/each-packed.lua. Throws CORRUPT where it is not that of so many calls. */
export function unpack(
  replies: readonly unknown[],
  calls: number,
  packing: Packing<unknown, unknown>,
): { answers: DataView; refusals: ReadonlyMap<number, readonly string[]> } {
  const [answers, ...refused] = replies;
  if (!(answers instanceof Uint8Array) || answers.length !== calls * packing.answerBytes)
    throw new OrielError("CORRUPT", "the script gave no reply of its size", { applied: "unknown" });
  const refusals = new Map<number, readonly string[]>();
  for (const refusal of refused) {
    const [group, ...why] = (refusal as unknown[]).map(String);
    refusals.set(Number(group) - 1, why);
  }
  return { answers: new DataView(answers.buffer, answers.byteOffset, answers.length), refusals };
}
