import { corruptError, OrielError } from "../../base/errors.ts";
import { ownView } from "../../base/realm.ts";
import type { Packing, StepOfArguments } from "../contract.ts";
import { errorOfReply } from "../refusal.ts";
import type { Call } from "./call.ts";

/**
 * Settles each call of one script call by its own part of the reply. Never throws. `isSentOnce` says that nothing below
 * the store (fetch, a proxy) can have sent the request again.
 */
export function settle(calls: readonly Call[], replies: unknown[], isSentOnce: boolean): void {
  const { operation } = calls[0]!;
  if ("packing" in operation) settlePacked(calls, replies, operation.packing, isSentOnce);
  else settleEach(calls, replies, operation, isSentOnce);
}

function settleEach(
  calls: readonly Call[],
  replies: unknown[],
  operation: StepOfArguments<unknown, unknown>,
  isSentOnce: boolean,
): void {
  for (let i = 0; i < calls.length; i++) {
    const call = calls[i]!;
    const reply = ownView(replies?.[i]);
    if (reply instanceof Uint8Array) answer(call, replies, isSentOnce, () => operation.decode(reply));
    else if (Array.isArray(reply)) refuse(call, String(reply[0]), String(reply[1]));
    else call.reject(corrupt(call, "the script gave no reply for a key"));
  }
}

function settlePacked(
  calls: readonly Call[],
  replies: unknown[],
  packing: Packing<unknown, unknown>,
  isSentOnce: boolean,
): void {
  try {
    packing.answersOf(
      replies,
      calls.length,
      (i, read) => answer(calls[i]!, replies, isSentOnce, read),
      (i, code, text) => refuse(calls[i]!, code, text),
    );
  } catch (error) {
    for (const call of calls) call.reject(corrupt(call, "the reply cannot be read", error));
  }
}

function answer(call: Call, run: object, isSentOnce: boolean, read: () => unknown): void {
  try {
    const output = read();
    if (call.isOpen) call.ranIn?.(run);
    if (isSentOnce && !call.mayBeApplied && call.isOpen) call.ranOnce?.();
    call.resolve(output);
  } catch (error) {
    call.reject(unreadable(call, error));
  }
}

/** Adds the key to an error of a decoder, which does not know the key. */
function unreadable(call: Call, error: unknown): unknown {
  if (!(error instanceof OrielError)) return corrupt(call, "the reply cannot be read", error);
  return error.code === "CORRUPT" ? corrupt(call, OrielError.detailOf(error), error.cause) : error;
}

function refuse(call: Call, code: string, text: string): void {
  call.reject(errorOfReply(call.keys, code, text, call.mayBeApplied));
}

function corrupt(call: Call, text: string, cause?: unknown): OrielError {
  return corruptError(call.keys[0]!, text, { cause, applied: "unknown" });
}
