import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** One direction of a connection: what is put in leaves in order, as late and in as small pieces as was wanted then. */
export class Lane {
  readonly #socket: Socket;
  #tail: Promise<void> | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  push(bytes: Buffer, delayMs: number, pieceBytes: number): void {
    if (!this.#tail && delayMs === 0 && pieceBytes === 0) {
      this.#socket.write(bytes);
      return;
    }
    const dueMs = performance.now() + delayMs;
    this.#follow(async () => {
      const leftMs = dueMs - performance.now();
      if (leftMs > 0) await pause(leftMs);
      if (pieceBytes === 0) this.#socket.write(bytes);
      else await this.#pieces(bytes, pieceBytes);
    });
  }

  /** Ends the connection in the normal way after all earlier bytes. */
  end(): Promise<void> {
    return this.#follow(() => new Promise((resolve) => this.#socket.end(resolve)));
  }

  /** Each piece travels as a packet of its own: the socket has no delay, and the other side has turns to read it. */
  async #pieces(bytes: Buffer, pieceBytes: number): Promise<void> {
    for (let at = 0; at < bytes.length && this.#socket.writable; at += pieceBytes) {
      const piece = bytes.subarray(at, at + pieceBytes);
      await new Promise<void>((resolve) => this.#socket.write(piece, () => resolve()));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #follow(step: () => Promise<void>): Promise<void> {
    const turn = (this.#tail ?? Promise.resolve()).then(step).catch(() => {});
    this.#tail = turn;
    turn.then(() => {
      if (this.#tail === turn) this.#tail = undefined;
    });
    return turn;
  }
}
