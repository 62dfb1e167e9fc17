import type { Packing } from "../contract.ts";
import type { Call } from "./call.ts";

/** What calls of a step of fixed sizes send: their inputs, one after the other, or the one that they share. */
export function pack(calls: readonly Call[], packing: Packing<unknown, unknown>): Uint8Array {
  const [{ input }] = calls as [Call];
  if (calls.every((call) => call.input === input)) calls = calls.slice(0, 1);
  const bytes = new Uint8Array(calls.length * packing.inputBytes);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < calls.length; i++) packing.write(view, i * packing.inputBytes, calls[i]!.input);
  return bytes;
}

/** Where the answers lie in the reply of lua/store/each-packed.lua. Throws where it is not that of so many calls. */
export function unpack(
  replies: readonly unknown[],
  calls: number,
  { answerBytes }: Packing<unknown, unknown>,
): { answers: DataView; refusals: ReadonlyMap<number, readonly string[]> } {
  const [answers, ...refused] = replies;
  const refusals = new Map<number, readonly string[]>();
  for (const refusal of refused) {
    const [group, ...why] = (refusal as unknown[]).map(String);
    refusals.set(Number(group) - 1, why);
  }
  if (!(answers instanceof Uint8Array) || answers.length !== (calls - refusals.size) * answerBytes)
    throw new RangeError("the reply is not of its size");
  return { answers: new DataView(answers.buffer, answers.byteOffset, answers.length), refusals };
}
