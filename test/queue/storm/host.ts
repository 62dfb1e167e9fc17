// A process for actors. Orders and reports are lines of JSON.
import { createInterface } from "node:readline";
import { type Actor, act } from "./actor.ts";
import { machineMs, type Note, type Orders } from "./notes.ts";

export type ToHost = { act: Orders } | { end: string };
export type FromHost = { note: Note & { by: string; atMs: number } } | { ended: string; error?: string };

const actors = new Map<string, Actor>();
// Bytes written to a pipe survive this process.
const say = (line: FromHost) => void process.stdout.write(`${JSON.stringify(line)}\n`);

createInterface(process.stdin).on("line", (line) => {
  const reported = JSON.parse(line) as ToHost;
  if ("act" in reported) {
    const { name } = reported.act;
    actors.set(
      name,
      act(reported.act, (note) => say({ note: { ...note, by: name, atMs: machineMs() } })),
    );
    return;
  }
  const name = reported.end;
  const actor = actors.get(name)!;
  actors.delete(name);
  actor.end().then(
    () => say({ ended: name }),
    (error) => say({ ended: name, error: String(error) }),
  );
});
