import { createHash } from "node:crypto";
import { connect, createServer, type Socket } from "node:net";
import { encodeCommand } from "../../../src/store/redis/script-command.ts";
import { commandName, commandWords, Frames } from "../network/resp-frames.ts";
import { type Restriction, refusalOf, scriptUnder } from "./restrictions.ts";

export interface RestrictedServer {
  readonly url: string;
  /** Commands that were refused, by the first word of the refusal. */
  readonly refused: Map<string, number>;
  /** How many connections were made. */
  readonly connections: () => number;
  /** The largest number of words in one command. */
  readonly mostWords: () => number;
  stop(): Promise<void>;
}

/**
 * A server with published restrictions: a proxy before a Redis of loopback. It refuses commands in order with the others,
 * and changes the text of scripts on the way, so that a script, too, meets the restriction.
 */
export async function startRestricted(serverPort: number, restriction: Restriction): Promise<RestrictedServer> {
  const links = new Set<Socket>();
  const refused = new Map<string, number>();
  /** SHA-1 of the changed text, by that of the text that was sent. */
  const changed = new Map<string, string>();
  let mostWords = 0;
  let connections = 0;

  const textUnder = (text: Buffer): Buffer => {
    const under = Buffer.from(scriptUnder(restriction, text.toString("latin1")), "latin1");
    changed.set(sha1(text), sha1(under));
    return under;
  };
  const changedCommand = (words: Buffer[]): Buffer[] => {
    const name = words[0]!.toString().toUpperCase();
    if (name === "EVAL") return [words[0]!, textUnder(words[1]!), ...words.slice(2)];
    if (name === "SCRIPT" && words[2] && /^load$/i.test(words[1]!.toString()))
      return [words[0]!, words[1]!, textUnder(words[2])];
    if (name !== "EVALSHA") return words;
    const sha = changed.get(words[1]!.toString());
    return sha ? [words[0]!, Buffer.from(sha), ...words.slice(2)] : words;
  };
  const onWay = (frame: Buffer): Buffer => {
    const words = commandWords(frame);
    mostWords = Math.max(mostWords, words.length);
    const refusal = refusalOf(restriction, words);
    if (refusal === undefined) return Buffer.from(encodeCommand(changedCommand(words)));
    refused.set(refusal.split(" ", 1)[0]!, (refused.get(refusal.split(" ", 1)[0]!) ?? 0) + 1);
    // The real server answers with the refusal, so that replies stay in order.
    return Buffer.from(encodeCommand(["EVAL", "return redis.error_reply(ARGV[1])", 0, refusal]));
  };

  const proxy = createServer((client) => {
    connections++;
    const server = connect(serverPort, "127.0.0.1");
    const frames = new Frames();
    client.on("data", (chunk: Buffer) => {
      for (const frame of frames.push(chunk)) {
        if (restriction.closesAfter?.includes(commandName(frame))) client.destroy();
        else server.write(onWay(frame));
      }
    });
    server.on("data", (chunk: Buffer) => client.write(chunk));
    for (const socket of [client, server]) {
      links.add(socket);
      socket.setNoDelay(true);
      const end = () => {
        for (const each of [client, server]) {
          links.delete(each);
          each.destroy();
        }
      };
      socket.on("error", end);
      socket.on("close", end);
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as { port: number };
  return {
    url: `redis://127.0.0.1:${port}`,
    refused,
    connections: () => connections,
    mostWords: () => mostWords,
    async stop() {
      for (const each of links) each.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

function sha1(bytes: Buffer): string {
  return createHash("sha1").update(bytes).digest("hex");
}
