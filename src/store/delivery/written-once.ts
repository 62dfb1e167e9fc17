import type { Argument } from "../contract.ts";

/** Converts an argument for node-redis: numbers to decimal text, bytes to the class that the client accepts. */
export function bytesOf(part: Argument): string | Buffer {
  if (typeof part === "string" || part instanceof Buffer) return part;
  return typeof part === "number" ? String(part) : Buffer.from(part.buffer, part.byteOffset, part.byteLength);
}

/**
 * Lets node-redis write a command only once. The client reads a command's first part when it writes the command, in a
 * later turn. A second write is refused, whatever caused it. Reads before `send` returns are for the client's tracing.
 */
export function writtenOnce<Answer>(
  parts: readonly (string | Buffer)[],
  onWritten: () => void,
  send: (command: (string | Buffer)[]) => Answer,
): Answer {
  const command = [...parts];
  let isSent = false;
  let isWritten = false;
  Object.defineProperty(command, 0, {
    get() {
      if (!isSent) return parts[0];
      if (isWritten) throw new Error("the command was written before");
      isWritten = true;
      onWritten();
      return parts[0];
    },
  });
  const answer = send(command);
  isSent = true;
  return answer;
}
