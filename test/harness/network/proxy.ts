import { connect, createServer, type Socket } from "node:net";
import { Lane } from "./lane.ts";
import { commandName, Frames } from "./resp-frames.ts";

interface DropOptions {
  /** Only this command counts; default EVALSHA. */
  command?: string;
  /** What becomes of the connection, as a lost reply on TCP means one of these: closed, or open and dead. */
  then?: "cut" | "silence";
  /** Number of bytes of the frame that still arrive, at most all. Default 0. */
  afterBytes?: number;
}

export interface FaultProxy {
  readonly port: number;
  readonly url: string;
  /** Commands that were handed to the server whole, by name. */
  readonly handedOn: Map<string, number>;
  /** Size in bytes of the last frame of either direction, by command. */
  readonly sizes: Map<string, { request: number; reply: number }>;
  /** Loses the next `count` replies: the server has done its work, the client never hears of it. */
  dropReplies(count: number, options?: DropOptions): void;
  /** Loses the next `count` requests before they reach the server. */
  dropRequests(count: number, options?: DropOptions): void;
  /** Closes all connections; new ones are let in. */
  cut(): void;
  /** Hands each reply on `ms` later, in order. 0 ends it. */
  delay(ms: number): void;
  /** Forwards all data, both ways, in packets of this number of bytes. 0 ends it. */
  split(pieceBytes: number): void;
  /** While true, new connections are closed at once. */
  refuse(refused: boolean): void;
  /** Closes all connections; new ones lead to another server of loopback. */
  moveTo(serverPort: number): void;
  close(): Promise<void>;
}

type Drop = Required<DropOptions> & { left: number };

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
  const sizes: FaultProxy["sizes"] = new Map();
  let replies: Drop | undefined;
  let requests: Drop | undefined;
  let delayMs = 0;
  let pieceBytes = 0;
  let refused = false;
  let targetPort = serverPort;

  const end = (link: Link) => {
    links.delete(link);
    link.client.destroy();
    link.server.destroy();
  };
  /** Whether the frame is lost; what of it still passes, does so first. */
  const isLost = (drop: Drop | undefined, command: string, link: Link, lane: Lane, frame: Buffer) => {
    if (!drop || drop.left === 0 || drop.command !== command) return false;
    drop.left--;
    const isSilent = drop.then === "silence";
    link.isSilent = true;
    if (drop.afterBytes > 0) lane.push(frame.subarray(0, drop.afterBytes), 0, 0);
    if (!isSilent && drop.afterBytes === 0) end(link);
    else if (!isSilent) lane.end().then(() => end(link));
    return true;
  };
  const dropOf = (left: number, { command = "EVALSHA", then = "cut", afterBytes = 0 }: DropOptions = {}) => ({
    left,
    command,
    then,
    afterBytes,
  });
  const note = (command: string, size: { request: number } | { reply: number }) =>
    sizes.set(command, { request: 0, reply: 0, ...sizes.get(command), ...size });

  const proxy = createServer((client) => {
    if (refused) return client.destroy();
    const link: Link = { client, server: connect(targetPort, "127.0.0.1"), isSilent: false, asked: [] };
    links.add(link);
    const [toClient, toServer] = [new Lane(client), new Lane(link.server)];
    const [fromClient, fromServer] = [new Frames(), new Frames()];
    client.on("data", (chunk: Buffer) => {
      for (const frame of fromClient.push(chunk)) {
        const command = commandName(frame);
        note(command, { request: frame.length });
        if (link.isSilent || isLost(requests, command, link, toServer, frame)) return;
        handedOn.set(command, (handedOn.get(command) ?? 0) + 1);
        link.asked.push(command);
        toServer.push(frame, 0, pieceBytes);
      }
    });
    link.server.on("data", (chunk: Buffer) => {
      for (const frame of fromServer.push(chunk)) {
        const command = link.asked.shift() ?? "";
        note(command, { reply: frame.length });
        if (link.isSilent || isLost(replies, command, link, toClient, frame)) return;
        toClient.push(frame, delayMs, pieceBytes);
      }
    });
    for (const socket of [client, link.server]) {
      socket.setNoDelay(true);
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
    sizes,
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
    split: (bytes) => {
      pieceBytes = bytes;
    },
    refuse: (value) => {
      refused = value;
    },
    moveTo: (port) => {
      targetPort = port;
      for (const link of [...links]) end(link);
    },
    close: async () => {
      for (const link of [...links]) end(link);
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
