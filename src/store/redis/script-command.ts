import { tracingChannel } from "../../base/tracing.ts";
import type { Argument } from "../contract.ts";
import type { IoredisClient } from "./ioredis-client.ts";

const NO_ARGUMENTS: string[] = [];

/** The channel to which ioredis reports its commands. */
const tracing = tracingChannel("ioredis:command");

type Reject = (error: Error) => void;

/** The used part of a command of ioredis, 5 or 6. */
interface IoredisCommand {
  readonly promise: Promise<unknown>;
}
export type CommandClass = new (name: string, args: string[], options?: object) => IoredisCommand;

/** A command that writes a script call. */
export interface ScriptCommand extends IoredisCommand {
  /** True if it was written, and the server did not answer with an error. */
  mayHaveArrived(): boolean;
  readonly wasReplaced: boolean;
  abandon(): void;
}
type ScriptCommandClass = new (
  keys: readonly string[],
  payload: Buffer,
  onWritten?: (connection: unknown) => void,
) => ScriptCommand;

/**
 * The client's own class of commands, taken from a command that the client makes and does not send. So oriel does not
 * import ioredis here, and the package may be absent if it is not used.
 */
export function commandClassOf(client: IoredisClient): CommandClass {
  let made: object | undefined;
  const unsent = Object.create(client, {
    options: { value: { ...client.options, enableAutoPipelining: false } },
    sendCommand: {
      value: (command: object) => {
        made = command;
      },
    },
  }) as IoredisClient;
  unsent.call("PING");
  return made!.constructor as CommandClass;
}

const known = new WeakMap<CommandClass, ScriptCommandClass>();

export function scriptCommandOf(Command: CommandClass): ScriptCommandClass {
  let made = known.get(Command);
  if (!made) {
    made = scriptCommands(Command);
    known.set(Command, made);
  }
  return made;
}

/**
 * An EVALSHA or FCALL whose bytes are made here, once, binary arguments included. ioredis may write a command again on
 * a second connection (autoResendUnfulfilledCommands, failover in a cluster). It does not know whether a step may run
 * twice. So a command that was written once, or abandoned, is written as a PING, whose answer counts as a lost reply.
 */
function scriptCommands(Command: CommandClass): ScriptCommandClass {
  return class ScriptCommand extends Command {
    #payload: Buffer | undefined;
    #written = false;
    #isPing = false;
    readonly #onWritten: ((connection: unknown) => void) | undefined;

    declare args: string[];
    declare isTraced: boolean;
    declare settle: Reject | undefined;
    declare target: Reject | undefined;

    constructor(keys: readonly string[], payload: Buffer, onWritten?: (connection: unknown) => void) {
      super("evalsha", NO_ARGUMENTS);
      // ioredis uses these arguments only to find the slot. Its constructor would copy them, at a cost.
      this.args = ["", "1", keys[0] ?? ""];
      this.#payload = payload;
      this.#onWritten = onWritten;
      // Without a subscriber, older Nodes would make a promise for each call, which nobody sees.
      this.isTraced = tracing?.hasSubscribers !== true;
    }

    /** Ignored: the connection must not change how the reply is read. */
    setReplyContext(): void {}

    /*
     * ioredis assigns `reject` twice. The base class assigns its own. Then the Cluster assigns one that follows MOVED and
     * ASK, after which nothing has run. The Cluster would also repeat the call for seconds after TRYAGAIN. So TRYAGAIN
     * goes to the first one, and oriel splits the call. This is an accessor of the class, so that a command, which is
     * made for each call, has no fields with initial values.
     */
    get reject(): Reject {
      const { settle, target } = this; // read now, because the Cluster's next `reject` calls this function
      return (error) => {
        if (error.name === "ReplyError") this.#written = false;
        (error.message.startsWith("TRYAGAIN") ? settle : target)?.call(this, error);
      };
    }
    set reject(reject: Reject) {
      this.settle ??= reject;
      this.target = reject;
    }

    toWritable(connection: object): Buffer {
      if (this.#written || this.#payload === undefined) {
        this.#isPing = true;
        return encodeCommand(["PING"]);
      }
      this.#written = true;
      this.#onWritten?.(connection);
      return this.#payload;
    }

    mayHaveArrived(): boolean {
      return this.#written;
    }
    get wasReplaced(): boolean {
      return this.#isPing;
    }
    abandon(): void {
      this.#payload = undefined;
    }
  };
}

/** Up to this length a text is written by a loop, which is faster than a call of Buffer. */
const MAX_LOOPED = 64;
/** The mark, digits and line ends around a part. */
const FRAME_BYTES = 16;
const ARRAY = 0x2a;
const BULK = 0x24;

const NONE: readonly string[] = [];

/**
 * Encodes a command of all these parts in Redis' protocol: *count, then $length and the bytes of each part. Strings are sent
 * as UTF-8, numbers as decimal text. Bytes are copied, so the arguments may change after this returns.
 */
export function encodeCommand(
  words: readonly Argument[],
  keys: readonly string[] = NONE,
  args: readonly Argument[] = NONE,
): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_BYTES + maxBytesOf(words) + maxBytesOf(keys) + maxBytesOf(args));
  let at = writeHead(bytes, 0, ARRAY, words.length + keys.length + args.length);
  at = writeParts(bytes, at, words);
  at = writeParts(bytes, at, keys);
  at = writeParts(bytes, at, args);
  return bytes.subarray(0, at);
}

function writeParts(bytes: Buffer, from: number, parts: readonly Argument[]): number {
  let at = from;
  for (const part of parts) {
    if (typeof part === "object") {
      at = writeHead(bytes, at, BULK, part.length);
      bytes.set(part, at);
      at = writeEnd(bytes, at + part.length);
    } else at = writeText(bytes, at, typeof part === "number" ? String(part) : part);
  }
  return at;
}

function maxBytesOf(parts: readonly Argument[]): number {
  let maxBytes = 0;
  for (const part of parts) {
    maxBytes += FRAME_BYTES;
    if (typeof part === "object") maxBytes += part.length;
    else if (typeof part === "number") maxBytes += 24;
    else maxBytes += part.length > MAX_LOOPED ? Buffer.byteLength(part) : 3 * part.length;
  }
  return maxBytes;
}

function writeText(bytes: Buffer, at: number, text: string): number {
  if (text.length <= MAX_LOOPED) {
    const from = writeHead(bytes, at, BULK, text.length);
    let i = 0;
    for (; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) break;
      bytes[from + i] = code;
    }
    if (i === text.length) return writeEnd(bytes, from + i);
  }
  const length = Buffer.byteLength(text);
  const from = writeHead(bytes, at, BULK, length);
  bytes.write(text, from);
  return writeEnd(bytes, from + length);
}

/** Writes the mark and the number. Returns the offset after them. */
function writeHead(bytes: Buffer, at: number, mark: number, number: number): number {
  let digits = 1;
  for (let rest = number; rest >= 10; rest = Math.floor(rest / 10)) digits++;
  bytes[at] = mark;
  let rest = number;
  for (let i = at + digits; i > at; i--) {
    bytes[i] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  return writeEnd(bytes, at + digits + 1);
}

function writeEnd(bytes: Buffer, at: number): number {
  bytes[at] = 0x0d;
  bytes[at + 1] = 0x0a;
  return at + 2;
}
