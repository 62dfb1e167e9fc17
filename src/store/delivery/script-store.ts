import { Coalescer } from "../../base/async/coalescer.ts";
import { isEdgeRuntime } from "../../base/async/edge-runtime.ts";
import { atTurnsEnd, inMicrotask, type Schedule } from "../../base/async/gathering.ts";
import { leaseClock } from "../../base/async/lease-clock.ts";
import { endsWithRequest, lostAfterMs } from "../../base/async/of-request.ts";
import { pause } from "../../base/async/timers.ts";
import { untilEnded, within } from "../../base/async/within.ts";
import { argumentError, byteBound, OrielError } from "../../base/errors.ts";
import { flag, fn, type SettingsOf } from "../../base/options.ts";
import { Site } from "../../base/site.ts";
import { type Clock, type Duration, durationMs } from "../../base/time.ts";
import type { Operation, RunOptions, WatchedStore } from "../contract.ts";
import { failureReports, WithoutStore } from "../health/failures.ts";
import { Health } from "../health/health.ts";
import { isAnswer } from "../health/probe.ts";
import { reasonOf, withLeaf } from "../health/reason.ts";
import { emitOnce, subscriptionWarning, watchAppendOnly, watchEviction } from "../health/warnings.ts";
import { keyOf, PREFIX, SLOTS, slotOf } from "../keys.ts";
import { storeFull } from "../memory/full.ts";
import { Aged } from "./aged.ts";
import { Call, CallTime } from "./call.ts";
import type { ScriptClient } from "./client.ts";
import { deliver, type ScriptOf } from "./delivery.ts";

/** Options of every store on a server: prefix, deadline, bounds and warnings. */
export interface ScriptStoreOptions {
  /** Prefix of every key; default "oriel:". The client's own keyPrefix is not used. */
  prefix?: string | undefined;
  /**
   * Longest time of one request, repeated attempts included: from 1 ms to 24 days, default "1s". It begins when the client
   * can send: its load and its first connection have 2 s of their own. A call of a series may
   * need several requests, one after the other, and each may take a whole deadline. A record or a read first waits for
   * the request under way. The first record of a process first requests the time. A read of closed chunks needs one or
   * more further requests. The call ends with the first request that fails. A `signal` bounds a call as a whole.
   */
  deadline?: Duration | undefined;
  /**
   * Bound on the bytes of calls that wait for an answer; default 64 MiB. Above this bound a call rejects with
   * OVERLOADED.
   */
  maxPendingBytes?: number | undefined;
  /**
   * Called with each warning about a server setting that endangers data, at most once for each setting:
   *
   * - `maxmemory-policy` is not "noeviction", so the server may evict keys. Read when the store first reaches the
   * server.
   * - `appendonly` is "no". Read when counts or messages are first written.
   *
   * It is also called once if the server refuses SUBSCRIBE. Then waiters poll.
   *
   * Default: both are read when counts or messages are first written, and are emitted as warnings of the process, once for
   * all stores. Null or false: neither is read. If INFO is not permitted, there are no warnings.
   *
   * Over HTTP each setting costs a command, so the default reads neither. With `onWarning`, each is read once for all
   * stores of one process or isolate with the same URL, token and deadline. Only the store that read it calls its
   * function.
   */
  onWarning?: ((warning: string) => void) | null | false | undefined;
  /**
   * Whether the structures on this store announce themselves, so that `oriel ls` and the dashboard list them: their kind,
   * name and settings, and this process. It costs a call a minute, which travels with other calls. Default true.
   */
  registry?: boolean | undefined;
  /** @internal For tests: the script that runs an operation. */
  scriptOf?: ScriptOf | undefined;
  /** @internal For tests: the store's `monotonic` clock. Deadlines do not use it. */
  monotonic?: Clock | undefined;
}

/** The longest delay of a timer, in whole days. */
const MAX_DEADLINE_MS = 24 * 86_400_000;
const NO_OPTIONS: RunOptions = {};
/** The command gives more, and so do tests: a slow machine is no fault. */
export const defaults = { deadlineMs: 1000 };

export const SCRIPT_STORE = {
  prefix: PREFIX,
  deadline: [durationMs, null, 1, MAX_DEADLINE_MS],
  maxPendingBytes: [byteBound, 64 * 2 ** 20, 1],
  onWarning: [warningOf],
  registry: [flag, true],
} as const;
export const FOR_TESTS = { scriptOf: [fn<ScriptOf>, null], monotonic: [fn<Clock>, null] } as const;

function warningOf(argument: string, onWarning: ScriptStoreOptions["onWarning"]): ScriptStoreOptions["onWarning"] {
  if (onWarning !== undefined && onWarning !== null && onWarning !== false)
    fn(argument, onWarning, "a function, or null");
  return onWarning;
}

/** A store over a server that runs scripts. `connect` is called after the options are checked. */
export function scriptStore(
  connect: (deadlineMs: number) => ScriptClient,
  settings: SettingsOf<typeof SCRIPT_STORE & typeof FOR_TESTS>,
): WatchedStore {
  const { prefix, maxPendingBytes, onWarning, registry } = settings;
  const deadlineMs = settings.deadlineMs ?? defaults.deadlineMs;
  const connection = connect(deadlineMs);
  let isFileUnknown = onWarning !== null && onWarning !== false;
  if (onWarning) watchEviction(connection, onWarning);
  const onRefused = subscriptionWarning(onWarning === undefined ? emitOnce : onWarning);
  const health = new Health(connection, deadlineMs);
  const scriptOf = settings.scriptOf ?? ((operation) => operation.script);
  const onSeveralSlots = () => batches.splitBySlot(slotOf);
  const withoutStore = new WithoutStore((failure) => health.listeners.emit("error", failure));
  const delivery = { client: connection, health, withoutStore, deadlineMs, scriptOf, onSeveralSlots };

  const site = new Site("store", undefined, connection);
  const underWay = new Set<Promise<void>>();
  const isAlone = () => pendingCalls === 1;
  const send = (calls: Call[]) => {
    const ended = () => void underWay.delete(delivered);
    const delivered = deliver(calls, delivery).then(ended, (cause) => {
      const error = new OrielError("CORRUPT", "the call could not be sent", { cause });
      for (const call of calls) call.reject(error);
      ended();
    });
    underWay.add(delivered);
  };
  const batches = new Batches(connection.slotOf, isAlone, send, connection.maxBytes);
  let pendingCalls = 0;
  let pendingBytes = 0;
  let closed: Promise<void> | undefined;
  // In Workers a call may end unsettled with its request. Elsewhere each call settles by its deadline.
  const pending = endsWithRequest ? new Aged<Call>() : undefined;
  const forget = (call: Call) => {
    pendingCalls--;
    pendingBytes -= call.sizeBytes;
  };
  const onSettled = (call: Call) => {
    if (!pending || pending.delete(call)) forget(call);
    call.ignoreAbort?.();
  };
  const checkOpen = () => {
    pending?.takeOlderThan(lostAfterMs(deadlineMs)).forEach(forget);
    if (closed) throw new OrielError("UNAVAILABLE", "the store is closed");
    const waitingBytes = Math.max(pendingBytes, connection.unansweredBytes);
    if (waitingBytes > maxPendingBytes)
      throw storeFull(`${waitingBytes} bytes wait for answers; the bound is ${maxPendingBytes}`);
  };

  return {
    monotonic: settings.monotonic ?? (() => performance.now()),
    leaseClock: settings.monotonic ?? leaseClock(),
    keyOf: (name) => keyOf(prefix, name),
    address: connection.address,
    get health() {
      return health.state;
    },
    info: (section) => connection.info(section),
    on: (name, listener) => health.on(name, listener),
    ready: () =>
      site.run("ready", async () => {
        checkOpen();
        await serverReady(connection, deadlineMs, keyOf(prefix, "ready"));
      }),
    get subscribe(): WatchedStore["subscribe"] {
      const { subscribe } = connection;
      return subscribe && ((channel, listener) => subscribe(channel, listener, onRefused));
    },
    onTurn: registry ? (listener) => batches.onTurn(listener) : undefined,
    report: failureReports((failure) => health.listeners.emit("error", failure)),
    goesOnWithout: (effect, error) => withoutStore.goesOn(effect, error),
    /** Not async, because a second promise would add microtasks to every call. */
    run<Input, Output>(
      operation: Operation<Input, Output>,
      key: string,
      input: Input,
      options: RunOptions = NO_OPTIONS,
    ): Promise<Output> {
      try {
        options.signal?.throwIfAborted();
        checkOpen();
        if (options.replicas && connection.whyNoReplicas)
          throw argumentError("replicas", options.replicas, `0 ${connection.whyNoReplicas}`);
        const call = new Call(operation as Operation<unknown, unknown>, key, input, options, onSettled);
        pending?.add(call);
        pendingCalls++;
        pendingBytes += call.sizeBytes;
        batches.add(call);
        if (isFileUnknown && operation.mustLast) {
          isFileUnknown = false;
          if (!onWarning) watchEviction(connection, emitOnce);
          watchAppendOnly(connection, onWarning || emitOnce);
        }
        return call.promise as Promise<Output>;
      } catch (error) {
        return Promise.reject(error);
      }
    },
    /** Refuses new calls, waits for calls under way (at most their deadline), then releases the client. */
    close() {
      closed ??= (async () => {
        await undefined; // `closed` is set before waiters hear of the end, so that they are refused.
        while (pendingCalls > 0 || underWay.size > 0) {
          await new Promise((resolve) => setTimeout(resolve, 0));
          await untilEnded(Promise.all(underWay));
          if (endsWithRequest) break;
        }
        health.close();
        await connection.close();
      })();
      return closed;
    },
  };
}

const PAUSE_MS = 20;

/**
 * Resolves when the server has answered a command. Rejects with UNAVAILABLE at once if waiting does not help, else if
 * there was no answer within the time that a call has.
 */
async function serverReady(client: ScriptClient, deadlineMs: number, key: string): Promise<void> {
  const time = new CallTime(client, deadlineMs);
  for (;;) {
    const ready = time.ready();
    if (ready) {
      if (time.isOver) throw unavailable(client.lastError, `; tried for ${time.triedMs} ms`);
      const waited = await time.wait(ready);
      if (waited.kind === "failed") throw unavailable(waited.error);
      continue;
    }
    const asked = client.exists(key);
    const outcome = await within(asked.reply, time.leftMs);
    if (outcome.kind === "done") return;
    asked.abandon?.();
    const cause = outcome.kind === "failed" ? outcome.error : client.lastError;
    if (isAnswer(cause) || reasonOf(cause)?.isFinal) throw unavailable(cause);
    if (time.leftMs <= PAUSE_MS) throw unavailable(cause, `; tried for ${time.triedMs} ms`);
    await pause(PAUSE_MS);
  }
}

function unavailable(cause: unknown, tried = ""): OrielError {
  const reason = reasonOf(cause);
  const text = reason ? `${reason.text}${tried}` : withLeaf("Redis gives no answer", cause);
  return new OrielError("UNAVAILABLE", text, { cause, transient: reason?.isTransient ?? true, applied: "no" });
}

/** Bounds of one script call. The server runs nothing else during it, and its bytes are in memory on both sides. */
const MAX_KEYS = 256;
const MAX_BYTES = 2 ** 20;

/** Calls that may travel together. */
interface Group {
  calls: Call[];
  keyCount: number;
  sizeBytes: number;
}

/** The calls of one turn by operation, then by slot and `replicas`. */
type Turn = Map<unknown, Map<number, Group>>;

/** Vercel's edge runtime has a `process` without `nextTick`, or with one that throws. */
const afterMicrotasks: Schedule = (run) => {
  if (typeof process !== "object" || typeof process.nextTick !== "function" || isEdgeRuntime) return inMicrotask(run);
  process.nextTick(run);
  return process.nextTick;
};

/**
 * Gathers the calls of one turn of the event loop and sends them in batches, by operation and in the order of the
 * calls. A batch is one script call: at most 256 keys and 1 MiB or the operation's own bound, or a single call. In a
 * cluster, and on a server that has refused keys of several slots, a batch has the keys of one slot. A full batch is
 * sent at once, so that the server works on it during the turn.
 */
export class Batches {
  readonly #send: (calls: Call[]) => void;
  #slotOf: ((key: string) => number) | undefined;
  readonly #maxBytes: number;
  readonly #coalescer: Coalescer<Turn>;
  #isNewTurn = false;
  #onTurn: (() => void) | undefined;

  /**
   * `isAlone` returns whether no other call is under way, whose answer could cause more calls in this turn. The batch
   * then waits only for the microtasks of this turn.
   */
  constructor(
    slotOf: ((key: string) => number) | undefined,
    isAlone: () => boolean,
    send: (calls: Call[]) => void,
    maxBytes = MAX_BYTES,
  ) {
    this.#slotOf = slotOf;
    this.#send = send;
    this.#maxBytes = maxBytes;
    this.#coalescer = new Coalescer<Turn>({
      schedule: (flush) => (isAlone() ? afterMicrotasks : atTurnsEnd)(flush),
      begin: () => {
        this.#isNewTurn = true;
        return new Map();
      },
      send: (turn) => {
        for (const groups of turn.values()) for (const { calls } of groups.values()) send(calls);
      },
    });
  }

  /** From now on a batch has the keys of one slot. */
  splitBySlot(slotOf: (key: string) => number): void {
    this.#slotOf = slotOf;
  }

  /** From now on calls `listener` after the first call of each turn was added. It may add a call. */
  onTurn(listener: () => void): void {
    this.#onTurn = listener;
  }

  add(call: Call): void {
    const group = this.#groupOf(call);
    if (group.calls.length > 0 && !this.#hasRoomFor(group, call)) {
      this.#send(group.calls);
      group.calls = [];
      group.keyCount = 0;
      group.sizeBytes = 0;
    }
    group.calls.push(call);
    group.keyCount += call.keys.length;
    group.sizeBytes += call.sizeBytes;
    if (!this.#isNewTurn) return;
    this.#isNewTurn = false;
    this.#onTurn?.();
  }

  /**
   * Groups by the operation itself, since operations of one name may differ in their keys. Calls with different
   * `replicas` never share a group, so that only calls that ask for replicas wait for them.
   */
  #groupOf({ operation, keys, replicas }: Call): Group {
    const turn = this.#coalescer.open();
    let groups = turn.get(operation);
    if (!groups) {
      groups = new Map();
      turn.set(operation, groups);
    }
    const number = replicas * SLOTS + (this.#slotOf?.(keys[0]!) ?? 0);
    let group = groups.get(number);
    if (!group) {
      group = { calls: [], keyCount: 0, sizeBytes: 0 };
      groups.set(number, group);
    }
    return group;
  }

  #hasRoomFor(group: Group, { operation, keys, sizeBytes }: Call): boolean {
    const maxBytes = Math.min(operation.maxBytes ?? MAX_BYTES, this.#maxBytes);
    return group.keyCount + keys.length <= MAX_KEYS && group.sizeBytes + sizeBytes <= maxBytes;
  }
}
