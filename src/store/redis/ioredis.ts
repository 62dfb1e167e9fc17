import { type Deferred, deferred } from "../../base/async/deferred.ts";
import { idleTimeout } from "../../base/async/timers.ts";
import type { Argument, Script } from "../contract.ts";
import { type Attempt, type ScriptClient, serverError } from "../delivery/client.ts";
import { confirmed } from "../delivery/confirmation.ts";
import { NO_NODE, NO_TLS, NOT_WHOLE, STORE_CLOSED, UNREACHED } from "../health/client-reasons.ts";
import { LastError } from "../health/last-error.ts";
import { isFinal } from "../health/reason.ts";
import { ClusterNodes } from "../health/server-health.ts";
import { slotOf } from "../keys.ts";
import { withoutSecrets } from "../secrets.ts";
import { factsOf } from "./client-facts.ts";
import { type IoredisClient, outliveErrors } from "./ioredis-client.ts";
import {
  type CommandClass,
  commandClassOf,
  encodeCommand,
  type ScriptCommand,
  scriptCommandOf,
} from "./script-command.ts";
import { Loads, type Scripting, wholeScripts } from "./scripting.ts";
import { anyOf, type ListeningClient, Subscriber } from "./subscriber.ts";

const noError = () => {};
/** The server's own words, which it would answer to a command. */
const LOADING = "LOADING Redis is loading the dataset in memory";
/** A connection that is not ready after this time is asked why. */
const NOTICE_LOADING_MS = 100;
const WITHOUT_REASON = /Connection is closed|Command aborted|Stream isn't writeable/;

interface Stream {
  once(event: "data", listener: (bytes: Uint8Array) => void): unknown;
}

interface Unanswered {
  readonly calls: Set<Sent>;
  bytes: number;
}

/** A script call that was passed to the client. */
class Sent implements Attempt {
  readonly reply: Promise<unknown[]>;
  readonly command: ScriptCommand;
  readonly #bytes: number;
  readonly #unanswered: Unanswered;
  #resolve!: (answer: unknown[]) => void;
  #reject!: (error: Error) => void;

  constructor(command: ScriptCommand, bytes: number, unanswered: Unanswered) {
    this.command = command;
    this.#bytes = bytes;
    this.#unanswered = unanswered;
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    unanswered.calls.add(this);
    unanswered.bytes += bytes;
  }

  answer(answer: unknown): void {
    if (this.#settle()) this.#resolve(answer as unknown[]);
  }

  lose(error: Error): void {
    if (this.#settle()) this.#reject(error);
  }

  mayHaveArrived(): boolean {
    return this.command.mayHaveArrived();
  }

  abandon(): void {
    this.command.abandon();
  }

  #settle(): boolean {
    if (!this.#unanswered.calls.delete(this)) return false;
    this.#unanswered.bytes -= this.#bytes;
    this.command.abandon();
    return true;
  }
}

/** The adapter for ioredis. An `owned` client ends with the store; others stay open. */
export function ioredisClient(client: IoredisClient, owned: boolean, scripting: Scripting): ScriptClient {
  const Command = commandClassOf(client);
  const ScriptCommand = scriptCommandOf(Command);
  const loaded = new Set<Script>();
  const loads = new Loads(scripting);
  const unanswered: Unanswered = { calls: new Set(), bytes: 0 };
  const isCluster = client.isCluster === true;
  const { address, secrets, isTls } = factsOf(client);
  const lastError = new LastError(isCluster ? NO_NODE : isTls ? NO_TLS : UNREACHED, isTls);
  /** The reason if calls reject at once instead of waiting, such as a wrong password or a missing database. */
  let refusedBy: Error | undefined;
  let becomesReady: Deferred<void> | undefined;

  const onError = (error: unknown) => {
    // The error of a command that was lost with its connection. The connection reported its reason before.
    if (lastError.current && WITHOUT_REASON.test(String(error))) return;
    const isCut = lastError.isSilent && /ECONNRESET|EPIPE/.test(String(error));
    const reason = isCut ? lastError.cut : withoutSecrets(error, secrets);
    lastError.failed(reason);
    // One node of a working cluster refuses. The other nodes still receive their calls.
    if (!isFinal(reason) || (isCluster && client.status === "ready")) return;
    refusedBy = reason;
    becomesReady?.reject(refusedBy);
    becomesReady = undefined;
  };
  const onConnect = () => {
    refusedBy = undefined;
    if (!isCluster) {
      lastError.connected();
      (client.stream as Stream).once("data", noticeRefusal);
      idleTimeout(noticeLoading, NOTICE_LOADING_MS);
    } else lastError.failed(new Error(NOT_WHOLE)); // until it has asked for the cluster's state
  };
  /** A server that refuses a connection says so before a command asks, and closes. ioredis does not report it. */
  const noticeRefusal = (bytes: Uint8Array) => {
    const [, why] = /^-((?:ERR max number of clients|DENIED).*)/.exec(String(bytes)) ?? [];
    if (!why) return;
    lastError.refusal = new Error(why);
    onError(lastError.refusal);
  };
  /** ioredis waits while the server loads its data, and does not report it. */
  const noticeLoading = () => {
    if (client.status !== "connect") return;
    send(Command, client, "info", ["persistence"]).then((text) => {
      if (client.status === "connect" && /^loading:1/m.test(String(text))) lastError.failed(new Error(LOADING));
    }, noError);
  };
  const onReady = () => {
    if (refusedBy) return;
    lastError.ready();
    loaded.clear();
    becomesReady?.resolve();
    becomesReady = undefined;
  };
  const closedEarly = () => new Error("the connection closed before the answer", { cause: lastError.current });
  const onClose = () => {
    lastError.closed();
    const error = closedEarly();
    for (const sent of [...unanswered.calls]) sent.lose(error);
  };
  const onEnd = () => {
    becomesReady?.reject(new Error("the client has ended", { cause: lastError.current }));
    becomesReady = undefined;
  };
  const listeners: [string, (error?: unknown) => void][] = [
    ["error", onError],
    ["node error", onError],
    ["connect", onConnect],
    ["ready", onReady],
    ["close", onClose],
    ["end", onEnd],
  ];
  for (const [event, listener] of listeners) client.on(event, listener);
  outliveErrors(client);

  const masters = () => (isCluster ? (client.nodes?.("master") ?? []) : [client]);
  const load = (script: Script) => {
    loaded.add(script);
    for (const master of masters())
      loads.load(
        script,
        ([name = "", ...words]) => send(Command, master, name, words),
        ({ name }) => name === "ReplyError",
        () => void loaded.delete(script),
      );
  };
  /** Sends WAIT on the connection that a call was just written to, after that call. */
  const waitOn = (connection: unknown) => async (words: string[]) => {
    await undefined; // the call itself is written first
    const nodes = isCluster ? (client.nodes?.("all") ?? []) : [client];
    const node = nodes.find(({ stream }) => stream === connection);
    const count = node && (await send(Command, node, "wait", words));
    if (node?.stream !== connection) throw new Error("the connection closed before the replicas confirmed");
    return count;
  };

  const failureOf = (error: Error) =>
    error.name === "ReplyError" ? serverError(error, secrets) : withoutSecrets(error, secrets);
  const subscriber = new Subscriber(() => openListening(client));

  return {
    address,
    ...(isCluster && { slotOf, nodes: new ClusterNodes((key) => client.slots?.[slotOf(key)]?.[0]) }),
    get lastError() {
      return lastError.orWhileConnecting(isCluster ? client.status !== "ready" : client.status === "connecting");
    },
    get isOpening() {
      return lastError.isOpening;
    },
    get unansweredBytes() {
      return unanswered.bytes;
    },
    whenReady() {
      if (refusedBy) return Promise.reject(refusedBy);
      if (client.status === "ready") return undefined;
      if (client.status === "end")
        return Promise.reject(new Error("the client has ended", { cause: lastError.current }));
      if (client.status === "wait") client.connect().catch(onError);
      becomesReady ??= deferred();
      becomesReady.promise.catch(() => {}); // a call may stop waiting before this rejects
      return becomesReady.promise;
    },
    call(script: Script, keys: readonly string[], args: readonly Argument[], confirmation, isWhole = false): Attempt {
      if (!isWhole && !loaded.has(script)) load(script);
      const { command: name, nameOf } = isWhole ? wholeScripts : loads.scripting;
      const payload = encodeCommand([name, nameOf(script), keys.length], keys, args);
      let isConfirmed: Promise<void> | undefined;
      const onWritten =
        confirmation &&
        ((connection: unknown) => {
          isConfirmed = confirmed(confirmation, waitOn(connection));
          isConfirmed.catch(() => {});
        });
      const sent = new Sent(new ScriptCommand(keys, payload, onWritten), payload.length, unanswered);
      try {
        client.sendCommand(sent.command as never);
      } catch (error) {
        sent.lose(withoutSecrets(error, secrets));
      }
      sent.command.promise.then(
        (answer) => {
          if (sent.command.wasReplaced) sent.lose(closedEarly());
          else if (isConfirmed)
            isConfirmed.then(
              () => sent.answer(answer),
              (error: Error) => sent.lose(error),
            );
          else sent.answer(answer);
        },
        (error: Error) => sent.lose(failureOf(error)),
      );
      return sent;
    },
    forget(script) {
      loaded.delete(script);
      return loads.refusalOf(script);
    },
    exists: (key) => ({
      reply: send(Command, client, "exists", [key]).catch((error) => Promise.reject(failureOf(error))),
    }),
    info: (section) =>
      Promise.all(masters().map(async (master) => String(await send(Command, master, "info", [section])))),
    get subscribe() {
      return client.duplicate && subscriber.offered;
    },
    async close() {
      refusedBy = new Error(STORE_CLOSED); // Nothing connects the client again.
      becomesReady?.reject(refusedBy);
      for (const [event, listener] of listeners)
        if (event !== "error" || !owned) client.removeListener(event, listener);
      if (owned) client.disconnect();
      onClose();
      subscriber.close();
    },
  };
}

function send(Command: CommandClass, node: IoredisClient, name: string, args: string[]): Promise<unknown> {
  const command = new Command(name, args, { replyEncoding: "utf8" });
  (command as unknown as { setReplyContext(): void }).setReplyContext = () => {};
  node.sendCommand(command as never);
  return command.promise;
}

/**
 * A new connection with the client's options that does not reconnect by itself. In a cluster it goes to any node,
 * because every node receives all messages.
 */
function openListening(client: IoredisClient): ListeningClient | undefined {
  const nodes = client.isCluster ? (client.nodes?.("master") ?? []) : [client];
  const listening = anyOf(nodes)?.duplicate?.({
    lazyConnect: false,
    enableOfflineQueue: false,
    autoResubscribe: false,
    keyPrefix: "",
    retryStrategy: () => null,
    socketTimeout: undefined,
    disconnectTimeout: 100,
    maxRetriesPerRequest: 0,
  }) as (ListeningClient & IoredisClient) | undefined;
  if (listening) outliveErrors(listening);
  return listening;
}
