import { createHash } from "node:crypto";
import { connect, createServer, type Socket } from "node:net";
import { commandWords, Frames } from "../network/resp-frames.ts";
import { Lua54 } from "./engine.ts";

export interface Lua54Server {
  readonly url: string;
  /** How many scripts ran. */
  readonly ran: () => number;
  /** How many texts were no scripts to it. */
  readonly refused: () => number;
  /** Words of commands that look as if Lua 5.4 had made them of a float: "10.0". */
  readonly floats: ReadonlySet<string>;
  stop(): Promise<void>;
}

export interface Lua54Options {
  /** `struct.unpack` gives integers, and not floats as in Dragonfly. */
  integers?: boolean;
  /** The first line #!lua is skipped, and not a syntax error as in Dragonfly. */
  skipsFirstLine?: boolean;
}

/**
 * A server that runs scripts in Lua 5.4, as Dragonfly does: a proxy before a Redis of loopback, which runs the commands. One
 * command or script runs at a time. It has no functions, as their text is another form of the scripts. lua54.lua says what
 * scripts are given.
 */
export async function startLua54(serverUrl: string, options: Lua54Options = {}): Promise<Lua54Server> {
  const engine = await Lua54.start(options.integers === true);
  const texts = new Map<string, Buffer>();
  const links = new Set<Socket>();
  const ofScripts = new Link(serverUrl, links);
  let last: Promise<unknown> = Promise.resolve();
  const floats = new Set<string>();
  let ran = 0;
  let refused = 0;

  /** The error of a script's text, or undefined if it is known now. */
  const learn = (text: Buffer): Buffer | undefined => {
    const body = options.skipsFirstLine && text[0] === 35 ? text.subarray(text.indexOf("\n")) : text;
    const why = engine.compile(body);
    if (why !== "") {
      refused++;
      return errorReply(`ERR Error compiling script: ${why}`);
    }
    texts.set(sha1(text), body);
    return undefined;
  };
  const runScript = (sha: string, words: Buffer[]): Promise<Buffer> | Buffer => {
    const text = texts.get(sha);
    if (!text) return errorReply("NOSCRIPT No matching script. Please use EVAL.");
    ran++;
    return engine.run([text, ...words.slice(2)], (command) => {
      for (const word of commandWords(command)) if (looksFloat(word)) floats.add(word.toString("latin1"));
      return ofScripts.ask(command);
    });
  };
  const answer = (frame: Buffer, link: Link): Promise<Buffer> | Buffer => {
    const words = commandWords(frame);
    const [name, second] = words.slice(0, 2).map((word) => word.toString().toUpperCase());
    if (name === "EVAL") return learn(words[1]!) ?? runScript(sha1(words[1]!), words);
    if (name === "SCRIPT" && second === "LOAD") return learn(words[2]!) ?? bulkReply(sha1(words[2]!));
    if (name === "SCRIPT" && second === "FLUSH") texts.clear();
    if (name === "FUNCTION" || name === "FCALL") return errorReply(`ERR unknown command '${name}'`);
    return name === "EVALSHA" ? runScript(second!.toLowerCase(), words) : link.ask(frame);
  };

  const proxy = createServer((client) => {
    links.add(client);
    client.setNoDelay(true);
    const link = new Link(serverUrl, links, () => client.destroy());
    const frames = new Frames();
    client.on("data", (chunk: Buffer) => {
      for (const frame of frames.push(chunk)) {
        if (link.isPushing || /^\*\d+\r\n\$\d+\r\np?subscribe\r\n/i.test(frame.toString("latin1", 0, 40)))
          link.push(frame, client);
        else
          last = last
            .then(() => answer(frame, link))
            .then(
              (reply) => client.write(reply),
              () => client.destroy(),
            );
      }
    });
    client.on("error", () => {});
    client.on("close", () => link.close());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    url: `redis://127.0.0.1:${(proxy.address() as { port: number }).port}`,
    ran: () => ran,
    refused: () => refused,
    floats,
    async stop() {
      const closed = new Promise((resolve) => proxy.close(resolve));
      for (const each of links) each.destroy();
      await closed;
      await last;
      engine.stop();
    },
  };
}

/** A connection to the real server. */
class Link {
  readonly #socket: Socket;
  readonly #waiting: { resolve(reply: Buffer): void; reject(error: Error): void }[] = [];
  /** Where messages go, after a SUBSCRIBE. */
  #listener: Socket | undefined;

  constructor(url: string, links: Set<Socket>, onClose = () => {}) {
    const socket = url.startsWith("/") ? connect(url) : connect(Number(new URL(url).port), "127.0.0.1");
    const frames = new Frames();
    links.add(socket);
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => {
      for (const frame of frames.push(chunk)) {
        if (this.#listener) this.#listener.write(frame);
        else this.#waiting.shift()?.resolve(Buffer.from(frame));
      }
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      links.delete(socket);
      for (const { reject } of this.#waiting.splice(0)) reject(lost());
      onClose();
    });
    this.#socket = socket;
  }

  get isPushing(): boolean {
    return this.#listener !== undefined;
  }

  ask(command: Buffer): Promise<Buffer> {
    if (this.#socket.closed) return Promise.reject(lost());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#socket.write(command);
    });
  }

  /** From now on all replies and messages are passed on. */
  push(command: Buffer, listener: Socket): void {
    this.#listener = listener;
    this.#socket.write(command);
  }

  close(): void {
    this.#socket.destroy();
  }
}

function lost(): Error {
  return new Error("the connection to Redis was lost");
}

function looksFloat(word: Buffer): boolean {
  return word.length < 100 && /(^|[^\d.])\d+\.0([^\d.]|$)/.test(word.toString("latin1"));
}

function errorReply(text: string): Buffer {
  return Buffer.from(`-${text.replace(/[\r\n]+/g, " ")}\r\n`);
}

function bulkReply(text: string): Buffer {
  return Buffer.from(`$${text.length}\r\n${text}\r\n`);
}

function sha1(bytes: Buffer): string {
  return createHash("sha1").update(bytes).digest("hex");
}
