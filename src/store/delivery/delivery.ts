import { pause } from "../../base/async/timers.ts";
import { within } from "../../base/async/within.ts";
import { corruptError, OrielError } from "../../base/errors.ts";
import { ownView } from "../../base/realm.ts";
import type { Argument, Operation, Packing, Script, StepOfArguments } from "../contract.ts";
import type { WithoutStore } from "../health/failures.ts";
import type { Health } from "../health/health.ts";
import { isAnswer } from "../health/probe.ts";
import { isFinal, isOutOfQuota, reasonOf, withLeaf } from "../health/reason.ts";
import type { Outage } from "../health/server-health.ts";
import { slotOf } from "../keys.ts";
import { errorOfReply, OUT_OF_MEMORY } from "../refusal.ts";
import { type Call, CallTime } from "./call.ts";
import { type ScriptClient, ServerError } from "./client.ts";
import { Unconfirmed } from "./confirmation.ts";

/** The server's answers if it does not have a step, or no longer has it, or not in the form with Upstash's flag. */
const NOT_LOADED = /^(NOSCRIPT\b|ERR Function not found)|flag.*: allow-key-locking/;

/** Returns the script of an operation, the same object each time. `leading` returns arguments that precede those of the calls. */
export type ScriptOf = (operation: Operation<unknown, unknown>) => Script & { leading?: () => Argument[] };

export interface DeliveryOptions {
  client: ScriptClient;
  health: Health;
  withoutStore: WithoutStore;
  deadlineMs: number;
  scriptOf: ScriptOf;
  /** Called when the server refuses a call because its keys are in several slots. Later batches have one slot each. */
  onSeveralSlots(): void;
}

/** Errors after which nothing was changed and a later attempt may succeed. */
const TRY_LATER =
  /^(TRYAGAIN|MOVED|ASK|CLUSTERDOWN|READONLY|LOADING|MASTERDOWN|BUSY|NOREPLICAS|MISCONF)\b|Too many Cluster redirections/;

/** The answers of a server with slots behind a client that does not know them. Nothing was run. */
const SEVERAL_SLOTS = /CROSSSLOT|same slot|different slots/i;

/**
 * Sends calls of one operation to the server as one script call and settles each. It repeats the call until the
 * deadline if that cannot apply a step twice, and sends it once otherwise. Never rejects.
 *
 *   answered per key                       │ settle each by its own reply
 *   not loaded (any more)                  │ load, send again (nothing was run)
 *   not loaded, as the server is full      │ send the script's text (nothing was run)
 *   not loaded, refused for good           │ reject
 *   not now (TRYAGAIN, READONLY, ...)      │ wait with jitter, send again (nothing was run); TRYAGAIN splits the call
 *   keys of several slots (CROSSSLOT)       │ split by slot, send again (nothing was run)
 *   never written                          │ wait for the connection, send; the first one is no part of the deadline
 *   answered, replicas did not confirm     │ as no answer
 *   the server is down (store/health/health.ts)│ reject at once
 *   no answer (lost, or a third of the deadline)│ send again if the operation is repeatable; else applied "unknown": DEADLINE
 *                                          │ after the deadline or a client's own limit of silence, else UNAVAILABLE
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the table above, case by case, around one state.
export async function deliver(
  calls: readonly Call[],
  options: DeliveryOptions,
  time = new CallTime(options.client, options.deadlineMs),
): Promise<void> {
  const { client, health, withoutStore, deadlineMs, scriptOf } = options;
  const { operation, keys: firstKeys } = calls[0]!;
  const firstKey = firstKeys[0]!;
  let open = calls;
  let cause: unknown;
  let failures = 0;
  let isWhole = false;
  let isProbe = false;
  for (;;) {
    if (!open.every((call) => call.isOpen)) open = open.filter((call) => call.isOpen);
    if (open.length === 0) return;
    const server = health.serverOf(firstKey);
    const noAnswer = (why: unknown) => health.failed(server, firstKey, time.beganAtMs, why);
    if (time.isOver) {
      // The reason why there is no connection says more than the loss of a request with it.
      if (!(cause instanceof Unconfirmed) && !reasonOf(cause)) cause = client.lastError ?? cause;
      noAnswer(cause);
      return failLate(open, time.triedMs, cause);
    }
    const check = health.checkOf(server);
    if (check) await check;
    if (server.outage && !isProbe) {
      const outage = health.refuses(server);
      if (outage) return failDown(open, outage);
      isProbe = true;
    }
    const ready = time.ready();
    if (ready) {
      const waited = await time.wait(isProbe ? ready : health.orDown(ready));
      if (waited.kind !== "failed") continue;
      if (!isFinal(waited.error)) noAnswer(waited.error);
      return failWith(
        open,
        "Redis is out of reach",
        reasonOf(waited.error) ? waited.error : (client.lastError ?? waited.error),
      );
    }
    const script = scriptOf(operation);
    const keys: string[] = [];
    const args = script.leading?.() ?? [];
    for (const call of open) {
      for (const key of call.keys) keys.push(key);
      for (const arg of call.args) args.push(arg);
    }
    if ("packing" in operation) args.push(...operation.packing.argumentsOf(open.map(({ input }) => input)));
    const attemptMs = operation.repeatable ? Math.min(time.leftMs, deadlineMs / 3) : time.leftMs;
    const { replicas } = open[0]!; // the same for all calls of a batch
    const confirmation = replicas > 0 ? { replicas, timeoutMs: Math.floor(attemptMs), deadlineMs } : undefined;
    const attempt = client.call(script, keys, args, confirmation, isWhole);
    const outcome = await within(attempt.reply, attemptMs);
    if (outcome.kind === "done") {
      health.answered(server);
      withoutStore.succeeded(server.upSince);
      return settle(open, outcome.value, !client.mayResend);
    }
    failures++;
    if (outcome.kind === "failed" && (isAnswer(outcome.error) || outcome.error instanceof Unconfirmed))
      health.answered(server);
    if (outcome.kind === "failed" && outcome.error instanceof ServerError) {
      const refused = NOT_LOADED.test(outcome.error.message) ? client.forget(script) : undefined;
      const { message } = refused ?? outcome.error;
      cause = refused ?? outcome.error;
      if (NOT_LOADED.test(message)) {
        if (failures < 3) continue;
      } else if (refused && message.startsWith("OOM ")) {
        // A full server still runs the text of steps that only read or free memory. It answers others with OOM.
        isWhole = true;
        continue;
      } else if (isOutOfQuota(cause)) {
        health.refused(server, firstKey, cause);
        return failWith(open, message, cause);
      } else if (message.startsWith("OOM ")) {
        return reject(open, () => ["OVERLOADED", OUT_OF_MEMORY, true], cause);
      } else if (message.startsWith("TRYAGAIN") && open.length > 1) {
        await Promise.all(open.map((call) => deliver([call], options, time)));
        return;
      } else if (SEVERAL_SLOTS.test(message) && slotsOf(open).length > 1) {
        options.onSeveralSlots();
        await Promise.all(slotsOf(open).map((calls) => deliver(calls, options, time)));
        return;
      } else if (!TRY_LATER.test(message)) {
        const text = `the server refused ${refused ? "to load " : ""}the script (${message})`;
        return failWith(open, text, cause, false);
      }
    } else {
      attempt.abandon();
      const mayHaveArrived = attempt.mayHaveArrived();
      if (outcome.kind === "late") attempt.reply.then(() => health.answered(server), noError);
      // An attempt that was never written does not hide an earlier answer, such as READONLY.
      if (outcome.kind === "failed") cause = mayHaveArrived || !reasonOf(cause) ? outcome.error : cause;
      else if (!(cause instanceof Unconfirmed)) cause = client.lastError;
      if (mayHaveArrived) {
        for (const call of open) call.mayBeApplied = true;
        if (!operation.repeatable) {
          if (!(cause instanceof Unconfirmed)) noAnswer(cause);
          if (outcome.kind === "late") return failLate(open, deadlineMs, cause);
          return reasonOf(cause)?.isSilence
            ? failLate(open, Math.round(performance.now() - time.beganAtMs), cause)
            : fail(open, cause instanceof Unconfirmed ? cause.message : "the reply was lost", cause);
        }
      }
      if (outcome.kind === "late") continue;
    }
    const pauseMs = Math.min(time.leftMs, 10 * 2 ** Math.min(failures, 5) * Math.random());
    // An attempt without time for its answer would hide the server's reason. It would be unknown whether it ran.
    if (cause instanceof ServerError && time.leftMs - pauseMs < deadlineMs / 20)
      return failLate(open, deadlineMs, cause);
    await pause(pauseMs);
  }
}

/** The calls by the slot of their keys, in order. */
function slotsOf(calls: readonly Call[]): Call[][] {
  const slots = new Map<number, Call[]>();
  for (const call of calls) {
    const slot = slotOf(call.keys[0]!);
    const known = slots.get(slot);
    if (known) known.push(call);
    else slots.set(slot, [call]);
  }
  return [...slots.values()];
}

type Failure = [code: "DEADLINE" | "UNAVAILABLE" | "OVERLOADED", text: string, transient: boolean];

function reject(calls: readonly Call[], failureOf: (call: Call) => Failure, cause: unknown): void {
  for (const call of calls) {
    const [code, text, transient] = failureOf(call);
    const applied = call.mayBeApplied ? "unknown" : "no";
    const { retryAfterMs } = Object(cause) as { retryAfterMs?: number };
    call.reject(new OrielError(code, text, { cause, transient, applied, retryAfterMs }));
  }
}

function fail(calls: readonly Call[], text: string, cause: unknown): void {
  reject(calls, () => ["UNAVAILABLE", withLeaf(text, cause), true], cause);
}

/** Rejects with the known reason of `cause`, else with `text` and what the innermost cause says. */
function failWith(calls: readonly Call[], text: string, cause: unknown, isTransient = true): void {
  const reason = reasonOf(cause);
  const why = reason?.text ?? withLeaf(text, cause);
  reject(calls, () => ["UNAVAILABLE", why, reason?.isTransient ?? isTransient], cause);
}

/** Rejects at once with the reason of the outage and its duration so far. */
function failDown(calls: readonly Call[], { since, reason, cause }: Outage): void {
  const seconds = Math.ceil((Date.now() - since) / 1000);
  const isTransient = reasonOf(cause)?.isTransient ?? true;
  reject(calls, () => ["UNAVAILABLE", `${reason}; down for ${seconds} s`, isTransient], cause);
}

const noError = () => {};

/** A script that the server lacks is loaded by the next attempt, so it is no reason. */
function isNotLoaded(cause: unknown): boolean {
  return cause instanceof ServerError && NOT_LOADED.test(cause.message);
}

function failLate(calls: readonly Call[], deadlineMs: number, cause: unknown): void {
  const reason = reasonOf(cause);
  const text = `within ${deadlineMs} ms`;
  const named = isNotLoaded(cause) ? undefined : cause;
  const silent = reason
    ? `no answer from Redis ${text}: ${reason.text}`
    : withLeaf(`no answer from Redis ${text}`, named);
  const silence = cause instanceof Unconfirmed ? cause.message : silent;
  const why = reason
    ? `${reason.text}; tried for ${deadlineMs} ms`
    : withLeaf(`Redis could not be reached ${text}`, named);
  reject(
    calls,
    (call) => (call.mayBeApplied ? ["DEADLINE", silence, true] : ["UNAVAILABLE", why, reason?.isTransient ?? true]),
    cause,
  );
}

/**
 * Settles each call of one script call by its own part of the reply. Never throws. `isSentOnce` says that nothing below
 * the store (fetch, a proxy) can have sent the request again.
 */
function settle(calls: readonly Call[], replies: unknown[], isSentOnce: boolean): void {
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
