import type { Argument } from "../contract.ts";

/** For node-redis: numbers as decimal text; bytes as they are, but as the class that the client takes. */
export function bytesOf(part: Argument): string | Buffer {
  if (typeof part === "string" || part instanceof Buffer) return part;
  return typeof part === "number" ? String(part) : Buffer.from(part.buffer, part.byteOffset, part.byteLength);
}

/**
 * For node-redis. The client reads a command's first part when it writes it, in a later turn; a second writing, whoever wanted it, is
 * refused. What it reads before `send` returns is for its tracing.
 */
export function writtenOnce<Answer>(
  parts: readonly (string | Buffer)[],
  onWritten: () => void,
  send: (command: (string | Buffer)[]) => Answer,
): Answer {
  const command = [...parts];
  let isHandedIn = false;
  let isWritten = false;
  Object.defineProperty(command, 0, {
    get() {
      if (!isHandedIn) return parts[0];
      if (isWritten) throw new Error("the command was written before");
      isWritten = true;
      onWritten();
      return parts[0];
    },
  });
  const answer = send(command);
  isHandedIn = true;
  return answer;
}
