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
