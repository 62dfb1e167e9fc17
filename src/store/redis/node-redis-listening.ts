import type { NodeRedisClient } from "./node-redis-client.ts";
import type { ListeningClient } from "./subscriber.ts";

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
export function nodeRedisListening(client: NodeRedisClient): ListeningClient {
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
