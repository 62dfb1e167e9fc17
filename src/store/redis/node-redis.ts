import { type Deferred, deferred } from "../../base/async/deferred.ts";
import type { Argument, Script } from "../contract.ts";
import { type Attempt, type ScriptClient, serverError } from "../delivery/client.ts";
import { type Confirmation, confirmed, Unconfirmed } from "../delivery/confirmation.ts";
import { NO_NODE, NO_TLS, STORE_CLOSED, UNREACHED } from "../health/client-reasons.ts";
import { LastError } from "../health/last-error.ts";
import { isFinal } from "../health/reason.ts";
import { ClusterNodes } from "../health/server-health.ts";
import { slotOf } from "../keys.ts";
import { withoutSecrets } from "../secrets.ts";
import { factsOf } from "./client-facts.ts";
import {
  executeOn,
  isNodeCluster,
  type NodeRedisClient,
  type NodeRedisCluster,
  type SendOptions,
} from "./node-redis-client.ts";
import { Loads, type Scripting, wholeScripts } from "./scripting.ts";
import { anyOf, type ListeningClient, Subscriber } from "./subscriber.ts";

interface Connection {
  /** How often it was connected since it was first used. */
  count: number;
  /**
   * The commands that an error withdraws, unless they are written. Version 5 still writes to the connection that just failed, and
   * takes the next handshake's replies for theirs. Then it is never ready again.
   */
  readonly unwritten: Set<AbortController>;
  onReady(): void;
  onError(): void;
}

/** Errors of the server begin with a word in capitals. Errors of the client do not. */
const OF_SERVER = /^[A-Z][A-Z0-9]+( |$)/;

/**
 * The adapter for node-redis. A command is written once. It rejects when its connection closes, and a signal withdraws
 * it before it is written. An unconnected client is connected. The client stays open when the store is closed.
 */
export function nodeRedisClient(client: NodeRedisClient | NodeRedisCluster, scripting: Scripting): ScriptClient {
  const cluster = isNodeCluster(client) ? client : undefined;
  /** Makes replies of RESP type "$" (36) bytes. Not a constant of the module, because a runtime may have no Buffer. */
  const asBytes = { 36: Buffer };
  const single = cluster ? undefined : (client as NodeRedisClient);
  const loaded = new Map<Script, WeakSet<NodeRedisClient>>();
  const loads = new Loads(scripting);
  const connections = new Map<NodeRedisClient, Connection>();
  const unanswered = new Set<(error: Error) => void>();
  const { address, secrets, isTls } = factsOf(client);
  const lastError = new LastError(cluster ? NO_NODE : isTls ? NO_TLS : UNREACHED, isTls);
  /** The reason if calls reject at once instead of waiting, such as a wrong password or a missing database. */
  let refusedBy: Error | undefined;
  let unansweredBytes = 0;
  let hasEnded = false;
  let becomesReady: Deferred<void> | undefined;
  const onError = (error: unknown) => {
    const isCut = lastError.isSilent && /Socket closed unexpectedly|ECONNRESET|EPIPE/.test(String(error));
    const reason = isCut ? lastError.cut : withoutSecrets(error, secrets);
    lastError.failed(reason);
    lastError.closed();
    if (!isFinal(reason) || single?.isReady) return;
    refusedBy = reason;
    becomesReady?.reject(refusedBy);
    becomesReady = undefined;
  };
  const onConnect = () => {
    refusedBy = undefined;
    lastError.connected();
  };
  const onReady = () => {
    refusedBy = undefined;
    lastError.ready();
    hasEnded = false;
    becomesReady?.resolve();
    becomesReady = undefined;
  };
  const onEnd = () => {
    hasEnded = true;
    becomesReady?.reject(new Error("the client has ended", { cause: lastError.current }));
    becomesReady = undefined;
  };
  const listeners: [string, (error?: unknown) => void][] = [
    ["error", onError],
    ["node-error", onError],
    ...(cluster ? [] : [["connect", onConnect] as [string, () => void]]),
    [cluster ? "connect" : "ready", onReady],
    [cluster ? "disconnect" : "end", onEnd],
  ];
  for (const [event, listener] of listeners) client.on(event, listener);

  const failureOf = (error: Error) => {
    if (error instanceof Unconfirmed) return error;
    return OF_SERVER.test(error.message) ? serverError(error, secrets) : withoutSecrets(error, secrets);
  };
  const nodes = () => (single ? [single] : cluster!.masters.flatMap((each) => (each.client as NodeRedisClient) ?? []));
  const isReady = () => (single ? single.isReady : client.isOpen && cluster!.masters.length > 0);
  /** Looks for new primaries. The client does so only after MOVED, which a dead node does not send. */
  const rediscover = () => {
    const other = nodes().find((node) => node.isReady) ?? nodes()[0];
    const slots = (cluster as { _slots?: { rediscover?(startWith: NodeRedisClient): Promise<unknown> } } | undefined)
      ?._slots;
    if (other) slots?.rediscover?.(other).catch(onError);
  };
  const connectionOf = (node: NodeRedisClient) => {
    let connection = connections.get(node);
    if (!connection) {
      const onReady = () => {
        connection!.count++;
        for (const each of loaded.values()) each.delete(node);
      };
      const onError = () => {
        for (const withdrawal of connection!.unwritten) withdrawal.abort();
      };
      connection = { count: 0, unwritten: new Set(), onReady, onError };
      connections.set(node, connection);
      node.on("ready", onReady);
      node.on("error", onError);
    }
    return connection;
  };
  const sendConfirmed = async (
    node: NodeRedisClient,
    command: (string | Buffer)[],
    options: SendOptions,
    confirmation: Confirmation,
  ) => {
    // Commands of one chain are sent on one connection or not at all.
    const { chainId = Symbol("confirmed") } = options;
    const { count } = connectionOf(node);
    const reply = node.sendCommand(command, { ...options, chainId });
    const isConfirmed = confirmed(confirmation, async (words) => {
      const answer = await node.sendCommand(["WAIT", ...words], { chainId, abortSignal: options.abortSignal! });
      if (connectionOf(node).count !== count) throw new Error("the connection closed before the replicas confirmed");
      return answer;
    });
    isConfirmed.catch(() => {});
    const answer = await reply;
    try {
      await isConfirmed;
    } catch (error) {
      // An error of WAIT is not an error of the step.
      throw error instanceof Unconfirmed ? error : new Unconfirmed("the replicas could not be asked", { cause: error });
    }
    return answer;
  };
  const ask = async (node: NodeRedisClient, words: readonly string[]) => {
    // Until it is ready, the client keeps commands.
    if (!node.isReady) return node.sendCommand(words);
    const { unwritten } = connectionOf(node);
    const withdrawal = new AbortController();
    unwritten.add(withdrawal);
    try {
      return await node.sendCommand(words, { abortSignal: withdrawal.signal });
    } finally {
      unwritten.delete(withdrawal);
    }
  };
  const load = (node: NodeRedisClient, script: Script) => {
    connectionOf(node);
    const nodesWithScript = loaded.get(script) ?? new WeakSet();
    loaded.set(script, nodesWithScript);
    if (nodesWithScript.has(node)) return;
    nodesWithScript.add(node);
    loads.load(
      script,
      (words) => ask(node, words),
      ({ message }) => OF_SERVER.test(message),
      () => void nodesWithScript.delete(node),
    );
  };

  /** In a cluster it connects to any node, because every node receives all messages. */
  const subscriber = new Subscriber(() => {
    const node = anyOf(nodes());
    return node && nodeRedisListening(node);
  });

  return {
    address,
    ...(cluster && { slotOf, nodes: new ClusterNodes((key) => cluster.slots?.[slotOf(key)]?.master?.address) }),
    get lastError() {
      return lastError.orWhileConnecting(!isReady());
    },
    get isOpening() {
      return lastError.isOpening;
    },
    get unansweredBytes() {
      return unansweredBytes;
    },
    whenReady() {
      if (isReady()) return undefined;
      if (refusedBy) return Promise.reject(refusedBy);
      if (hasEnded) return Promise.reject(new Error("the client has ended", { cause: lastError.current }));
      becomesReady ??= deferred();
      const { promise } = becomesReady;
      promise.catch(() => {}); // a call may stop waiting before this rejects
      if (!client.isOpen)
        client.connect().catch((error) => {
          onError(error);
          becomesReady?.reject(lastError.current!);
          becomesReady = undefined;
        });
      return promise;
    },
    call(script, keys, args, confirmation, isWhole = false): Attempt {
      const { command, nameOf } = isWhole ? wholeScripts : loads.scripting;
      const parts = [command, nameOf(script), String(keys.length), ...keys, ...args.map(bytesOf)];
      const sizeBytes = parts.reduce((sum, part) => sum + part.length + 16, 0);
      const giveUp = new AbortController();
      let isWritten = false;
      let unwritten: Set<AbortController> | undefined;
      const send = (node: NodeRedisClient, options: SendOptions = {}): Promise<unknown> => {
        // Called again only after MOVED or ASK. Then nothing has run.
        isWritten = false;
        if (cluster && !node.isReady) {
          rediscover();
          return Promise.reject(new Error("the node is out of reach", { cause: lastError.current }));
        }
        if (!isWhole) load(node, script);
        unwritten?.delete(giveUp);
        unwritten = connectionOf(node).unwritten.add(giveUp);
        const own: SendOptions = { ...options, typeMapping: asBytes, abortSignal: giveUp.signal };
        return writtenOnce(
          parts,
          () => {
            isWritten = true;
          },
          (once) => (confirmation ? sendConfirmed(node, once, own, confirmation) : node.sendCommand(once, own)),
        );
      };
      unansweredBytes += sizeBytes;
      const reply = new Promise<unknown[]>((resolve, reject) => {
        const settle = () => {
          if (!unanswered.delete(lose)) return false;
          unansweredBytes -= sizeBytes;
          unwritten?.delete(giveUp);
          return true;
        };
        const lose = (error: Error) => {
          if (settle()) reject(error);
        };
        unanswered.add(lose);
        const sent = cluster ? executeOn(cluster, keys[0]!, send) : send(single!);
        sent.then(
          (answer) => settle() && resolve(answer as unknown[]),
          (error: Error) => {
            if (OF_SERVER.test(error.message)) isWritten = false;
            lose(failureOf(error));
          },
        );
      });
      return {
        reply,
        mayHaveArrived: () => isWritten,
        abandon() {
          giveUp.abort();
          if (isWritten) rediscover();
        },
      };
    },
    forget(script) {
      loaded.delete(script);
      return loads.refusalOf(script);
    },
    exists(key) {
      const askNode = (node: NodeRedisClient) => {
        if (cluster && !node.isReady) rediscover();
        return node.isReady ? ask(node, ["EXISTS", key]) : Promise.reject(lastError.current);
      };
      const reply = cluster ? executeOn(cluster, key, askNode) : askNode(single!);
      return { reply: reply.catch((error) => Promise.reject(error ? failureOf(error) : lastError.current)) };
    },
    info: (section) => Promise.all(nodes().map(async (node) => String(await ask(node, ["INFO", section])))),
    get subscribe() {
      return subscriber.offered;
    },
    async close() {
      refusedBy = new Error(STORE_CLOSED); // Nothing connects the client again.
      becomesReady?.reject(refusedBy);
      for (const [event, listener] of listeners) client.removeListener(event, listener);
      for (const [node, { onReady, onError }] of connections) {
        node.removeListener("ready", onReady);
        node.removeListener("error", onError);
      }
      for (const lose of [...unanswered]) lose(new Error(STORE_CLOSED));
      subscriber.close();
    },
  };
}

/** Converts an argument for node-redis: numbers to decimal text, bytes to the class that the client accepts. */
function bytesOf(part: Argument): string | Buffer {
  if (typeof part === "string" || part instanceof Buffer) return part;
  return typeof part === "number" ? String(part) : Buffer.from(part.buffer, part.byteOffset, part.byteLength);
}

/**
 * Lets node-redis write a command only once. The client reads a command's first part when it writes the command, in a
 * later turn. A second write is refused, whatever caused it. Reads before `send` returns are for the client's tracing.
 */
function writtenOnce<Answer>(
  parts: readonly (string | Buffer)[],
  onWritten: () => void,
  send: (command: (string | Buffer)[]) => Answer,
): Answer {
  const command = [...parts];
  let isSent = false;
  let isWritten = false;
  Object.defineProperty(command, 0, {
    get() {
      if (!isSent) return parts[0];
      if (isWritten) throw new Error("the command was written before");
      isWritten = true;
      onWritten();
      return parts[0];
    },
  });
  const answer = send(command);
  isSent = true;
  return answer;
}

/** The used part of a node-redis client that only listens. */
interface NodeRedisListener {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  destroy(): void;
  ping(): Promise<unknown>;
  unref(): void;
  subscribe(channels: string[], listener: (message: string, channel: string) => void): Promise<unknown>;
  unsubscribe(channels: string[]): Promise<unknown>;
  on(event: string, listener: () => void): unknown;
}

/** A new connection with the client's options, for the subscriber. It does not reconnect by itself. */
function nodeRedisListening(client: NodeRedisClient): ListeningClient {
  const { socket } = (client.options ?? {}) as { socket?: object };
  const connection = client.duplicate({
    socket: { ...socket, reconnectStrategy: false, socketTimeout: undefined },
  }) as NodeRedisListener;
  const listeners = new Map<string, (channel?: string, message?: string) => void>();
  let hasEnded = false;
  const end = () => {
    if (hasEnded) return;
    hasEnded = true;
    if (connection.isOpen) connection.destroy();
    listeners.get("close")?.();
    listeners.get("end")?.();
  };
  // A connection without a reconnect strategy may emit only "error" when its socket closes.
  connection.on("error", end);
  connection.on("end", end);
  connection.on("ready", () => listeners.get("ready")?.());
  connection.unref();
  connection.connect().catch(end);
  const onMessage = (message: string, channel: string) => listeners.get("message")?.(channel, message);
  return {
    get status() {
      return connection.isReady ? "ready" : "connecting";
    },
    subscribe: (...channels) => connection.subscribe(channels, onMessage),
    unsubscribe: (...channels) => connection.unsubscribe(channels),
    ping: () => connection.ping(),
    disconnect: end,
    on: (event, listener) => listeners.set(event, listener),
  };
}
