import { connect, type Socket } from "node:net";
import { encodeCommand } from "../../../src/store/redis/script-command.ts";
import { Frames } from "./resp-frames.ts";

/** A reply as the server gave it: what is a status and what is a bulk string stay apart. */
export type Reply = { status: string } | { error: string } | { bulk: Buffer } | number | null | Reply[];

/** One connection to a Redis, made when it is first needed and again after it was lost; replies come in order. */
export class RespConnection {
  readonly #address: string;
  #socket: Socket | undefined;
  #waiting: { resolve(reply: Reply): void; reject(error: Error): void }[] = [];

  /** The path of a unix socket, or redis://host:port. */
  constructor(url: string) {
    this.#address = url;
  }

  /** Written at once, so that nobody's commands come between. */
  send(commands: readonly (readonly (string | Buffer)[])[]): Promise<Reply[]> {
    const socket = this.#open();
    const replies = commands.map(
      () => new Promise<Reply>((resolve, reject) => this.#waiting.push({ resolve, reject })),
    );
    socket.write(Buffer.concat(commands.map((parts) => encodeCommand(parts))));
    return Promise.all(replies);
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    if (this.#socket) return this.#socket;
    const { hostname, port } = this.#address.startsWith("/") ? { hostname: "", port: "" } : new URL(this.#address);
    const socket = hostname ? connect(Number(port), hostname) : connect(this.#address);
    const frames = new Frames();
    socket.on("data", (chunk) => {
      for (const frame of frames.push(chunk)) this.#waiting.shift()?.resolve(readReply(frame, 0).reply);
    });
    socket.on("error", () => {});
    socket.once("close", () => {
      if (this.#socket === socket) this.#socket = undefined;
      for (const { reject } of this.#waiting.splice(0)) reject(new Error("the connection to Redis was lost"));
    });
    this.#socket = socket;
    return socket;
  }
}

function readReply(bytes: Buffer, at: number): { reply: Reply; end: number } {
  const feed = bytes.indexOf("\r\n", at);
  const line = bytes.toString("utf8", at + 1, feed);
  const end = feed + 2;
  switch (String.fromCharCode(bytes[at]!)) {
    case "+":
      return { reply: { status: line }, end };
    case "-":
      return { reply: { error: line }, end };
    case ":":
      return { reply: Number(line), end };
    case "$":
      if (line === "-1") return { reply: null, end };
      return { reply: { bulk: bytes.subarray(end, end + Number(line)) }, end: end + Number(line) + 2 };
    default: {
      if (line === "-1") return { reply: null, end };
      const replies: Reply[] = [];
      let next = end;
      for (let i = 0; i < Number(line); i++) {
        const part = readReply(bytes, next);
        replies.push(part.reply);
        next = part.end;
      }
      return { reply: replies, end: next };
    }
  }
}
