import { connect, createServer, type Socket } from "node:net";

/** How a proxy ends a connection: a normal end, a reset, or without notice: its bytes are dropped from then on. */
export type Cut = "FIN" | "RST" | "drop";

export interface IdleProxy {
  readonly url: string;
  /** Connections that pass bytes now. */
  readonly open: number;
  /** Connections that were ever opened. */
  readonly accepted: number;
  /** Connections that were cut because they were silent. */
  readonly cuts: number;
  /** How long the one that has been silent longest has been so. */
  readonly silentMs: number;
  /** Cuts all connections, or those that have subscribed to a channel. New ones are accepted. */
  cut(how: Cut, which?: "listening"): void;
  /** Time passes. Connections that were silent for a minute are cut. */
  step(ms: number, how: Cut): void;
  close(): Promise<void>;
}

const LONGEST_SILENCE_MS = 60_000;

interface Link {
  client: Socket;
  server: Socket;
  silentMs: number;
  isDropped: boolean;
  isListening: boolean;
}

/** A proxy before a server on loopback that cuts idle connections. Its time passes in steps. */
export async function startIdleProxy(serverPort: number): Promise<IdleProxy> {
  const links = new Set<Link>();
  let [accepted, cuts] = [0, 0];
  const end = (link: Link, how: Cut) => {
    if (how === "drop") {
      link.isDropped = true;
      return;
    }
    links.delete(link);
    for (const socket of [link.client, link.server]) how === "FIN" ? socket.end() : socket.resetAndDestroy();
  };
  const isOpen = ({ isDropped }: Link) => !isDropped;

  const proxy = createServer((client) => {
    const link: Link = {
      client,
      server: connect(serverPort, "127.0.0.1"),
      silentMs: 0,
      isDropped: false,
      isListening: false,
    };
    links.add(link);
    accepted++;
    for (const [from, to] of [
      [client, link.server],
      [link.server, client],
    ] as const) {
      from.setNoDelay(true);
      from.on("data", (bytes) => {
        if (link.isDropped) return;
        link.silentMs = 0;
        link.isListening ||= from === client && /\r\nsubscribe\r\n/i.test(String(bytes));
        if (to.writable) to.write(bytes);
      });
      from.on("error", () => {});
      from.on("close", () => {
        if (link.isDropped && from === client) link.server.destroy();
        if (link.isDropped) return;
        links.delete(link);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as { port: number };

  return {
    url: `redis://127.0.0.1:${port}`,
    get open() {
      return [...links].filter(isOpen).length;
    },
    get accepted() {
      return accepted;
    },
    get cuts() {
      return cuts;
    },
    get silentMs() {
      return Math.max(...[...links].filter(isOpen).map(({ silentMs }) => silentMs));
    },
    cut(how, which) {
      for (const link of [...links].filter(isOpen)) if (which === undefined || link.isListening) end(link, how);
    },
    step(ms, how) {
      for (const link of [...links].filter(isOpen)) {
        link.silentMs += ms;
        if (link.silentMs < LONGEST_SILENCE_MS) continue;
        cuts++;
        end(link, how);
      }
    },
    async close() {
      for (const { client, server } of links) {
        client.destroy();
        server.destroy();
      }
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
