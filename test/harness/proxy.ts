import { connect, createServer, type Socket } from "node:net";
import { commandName, Frames } from "./resp-frames.ts";

export interface DropOptions {
  /** Only this command counts; default EVALSHA. */
  command?: string;
  /** What becomes of the connection, as a lost reply on TCP means one of these: closed, or open and dead. */
  then?: "cut" | "silence";
}

export interface FaultProxy {
  readonly port: number;
  readonly url: string;
  /** Commands that were handed to the server, by name. */
  readonly handedOn: Map<string, number>;
  /** Loses the next `count` replies: the server has done its work, the client never hears of it. */
  dropReplies(count: number, options?: DropOptions): void;
  /** Loses the next `count` requests before they reach the server. */
  dropRequests(count: number, options?: DropOptions): void;
  /** Closes all connections; new ones are let in. */
  cut(): void;
  /** Hands each reply on `ms` later, in order. 0 ends it. */
  delay(ms: number): void;
  /** While true, new connections are closed at once. */
  refuse(refused: boolean): void;
  close(): Promise<void>;
}

interface Drop {
  left: number;
  command: string;
  then: "cut" | "silence";
}

interface Link {
  client: Socket;
  server: Socket;
  isSilent: boolean;
  /** Names of the commands that wait for their reply. */
  asked: string[];
}

/** A TCP proxy before a Redis on loopback, which reads both directions command by command and can lose them. */
export async function startProxy(serverPort: number): Promise<FaultProxy> {
  const links = new Set<Link>();
  const handedOn = new Map<string, number>();
  let replies: Drop | undefined;
  let requests: Drop | undefined;
  let delayMs = 0;
  let refused = false;

  const end = (link: Link) => {
    links.delete(link);
    link.client.destroy();
    link.server.destroy();
  };
  const isDropped = (drop: Drop | undefined, command: string, link: Link) => {
    if (!drop || drop.left === 0 || drop.command !== command) return false;
    drop.left--;
    if (drop.then === "cut") end(link);
    else link.isSilent = true;
    return true;
  };
  const dropOf = (count: number, { command = "EVALSHA", then = "cut" }: DropOptions = {}) => ({
    left: count,
    command,
    then,
  });

  const proxy = createServer((client) => {
    if (refused) return client.destroy();
    const link: Link = { client, server: connect(serverPort, "127.0.0.1"), isSilent: false, asked: [] };
    links.add(link);
    const fromClient = new Frames();
    const fromServer = new Frames();
    client.on("data", (chunk: Buffer) => {
      for (const frame of fromClient.push(chunk)) {
        const command = commandName(frame);
        if (link.isSilent || isDropped(requests, command, link)) return;
        handedOn.set(command, (handedOn.get(command) ?? 0) + 1);
        link.asked.push(command);
        link.server.write(frame);
      }
    });
    link.server.on("data", (chunk: Buffer) => {
      for (const frame of fromServer.push(chunk)) {
        const command = link.asked.shift() ?? "";
        if (link.isSilent || isDropped(replies, command, link)) return;
        if (delayMs > 0) setTimeout(() => client.write(frame), delayMs);
        else client.write(frame);
      }
    });
    for (const socket of [client, link.server]) {
      socket.on("error", () => end(link));
      socket.on("close", () => end(link));
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as { port: number };

  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    handedOn,
    dropReplies: (count, options) => {
      replies = dropOf(count, options);
    },
    dropRequests: (count, options) => {
      requests = dropOf(count, options);
    },
    cut: () => {
      for (const link of [...links]) end(link);
    },
    delay: (ms) => {
      delayMs = ms;
    },
    refuse: (value) => {
      refused = value;
    },
    close: async () => {
      for (const link of [...links]) end(link);
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
