import { ServerError } from "../../../src/store/delivery/client.ts";

/** A value that a server sends: bulk strings are bytes, errors are values. */
export type Reply = number | string | Buffer | null | ServerError | Reply[];

/** Cuts the bytes of a connection into replies (RESP2). Bytes of an unfinished reply wait for the rest. */
export class RespReader {
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;

  /** Returns the replies that these bytes complete. */
  push(bytes: Buffer): Reply[] {
    this.#bytes = Buffer.concat([this.#bytes.subarray(this.#at), bytes]);
    const replies: Reply[] = [];
    for (this.#at = 0; ; ) {
      const start = this.#at;
      const reply = this.#read();
      if (reply === undefined) {
        this.#at = start;
        return replies;
      }
      replies.push(reply);
    }
  }

  /** Undefined if bytes are missing. */
  #read(): Reply | undefined {
    const end = this.#bytes.indexOf("\r\n", this.#at);
    if (end < 0) return undefined;
    const line = this.#bytes.toString("utf8", this.#at + 1, end);
    const kind = String.fromCharCode(this.#bytes[this.#at]!);
    this.#at = end + 2;
    if (kind === "+") return line;
    if (kind === "-") return new ServerError(line);
    if (kind === ":") return Number(line);
    return kind === "$" ? this.#bulk(Number(line)) : this.#array(Number(line));
  }

  #bulk(length: number): Buffer | null | undefined {
    if (length < 0) return null;
    const start = this.#at;
    this.#at += length + 2;
    return this.#at > this.#bytes.length ? undefined : this.#bytes.subarray(start, start + length);
  }

  #array(length: number): Reply[] | undefined {
    const replies: Reply[] = [];
    while (replies.length < length) {
      const reply = this.#read();
      if (reply === undefined) return undefined;
      replies.push(reply);
    }
    return replies;
  }
}
