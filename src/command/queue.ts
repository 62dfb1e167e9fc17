import { argumentError } from "../base/errors.ts";
import type { DelayQueue, QueuedMessage } from "../entries/index.ts";
import { openQueue } from "../operate/kinds/queue.ts";
import { openStore } from "./config/open-store.ts";
import type { ServerTyped } from "./config/redis-client.ts";
import { tableLines } from "./live/columns.ts";
import { find } from "./live/find.ts";
import { colorsFor, Output, type Streams, widthOf } from "./output.ts";
import { jsonLine } from "./text/safe-text.ts";

export interface QueueTyped extends ServerTyped {
  shards?: string;
  limit: string;
  ids?: string;
  json?: boolean;
}

const SHOWN_CHARACTERS = 60;

/** Prints the state of a delay queue, redrives its dead messages, pauses or resumes it. Resolves to 0. */
export async function queue(what: string, name: string, typed: QueueTyped, streams: Streams): Promise<number> {
  const store = openStore(typed);
  const output = new Output(streams.stdout);
  try {
    const { settings } =
      typed.shards === undefined
        ? await find(store, name, "DelayQueue", "DelayQueue")
        : { settings: { shards: Number(typed.shards) } };
    const delayQueue = openQueue(store, { name, settings });
    const limit = Number(typed.limit);
    if (what === "counts") await output.write(countsText(await delayQueue.counts(), typed));
    else if (what === "peek") await output.write(listText(await delayQueue.peek({ limit }), typed, streams));
    else if (what === "dead") await output.write(listText(await delayQueue.dead.list({ limit }), typed, streams));
    else if (what === "redrive") await output.write(redrivenText(await delayQueue.dead.redrive(idsOf(typed)), typed));
    else await output.write(pausedText(await setPaused(delayQueue, what === "pause"), typed));
    return 0;
  } finally {
    await store.close();
  }
}

function idsOf({ ids }: QueueTyped): { ids?: string[] } {
  if (ids === undefined) return {};
  const all = ids.split(",");
  if (all.includes("")) throw argumentError("--ids", ids, "ids separated by commas");
  return { ids: all };
}

function countsText(counts: Awaited<ReturnType<DelayQueue["counts"]>>, { json }: QueueTyped): string {
  if (json) return jsonLine(counts);
  const { isPaused, ...numbers } = counts;
  const text = Object.entries(numbers).map(([state, count]) => `${state} ${count}`);
  return `${text.join(" · ")}${isPaused ? " · paused" : ""}\n`;
}

function redrivenText(redriven: number, { json }: QueueTyped): string {
  return json ? jsonLine({ redriven }) : `${redriven} redriven\n`;
}

async function setPaused(delayQueue: DelayQueue, isPaused: boolean): Promise<boolean> {
  await (isPaused ? delayQueue.pause() : delayQueue.resume());
  return isPaused;
}

function pausedText(isPaused: boolean, { json }: QueueTyped): string {
  if (json) return jsonLine({ isPaused });
  return isPaused ? "paused: workers claim no message\n" : "resumed: workers claim messages again\n";
}

function listText(messages: readonly QueuedMessage[], { json }: QueueTyped, { stdout }: Streams): string {
  if (json) return messages.map((each) => jsonLine({ ...each, payload: plain(each.payload) })).join("");
  if (messages.length === 0) return "none\n";
  const isDead = messages[0]!.state === "dead";
  const cells = (of: (message: QueuedMessage) => string) => messages.map((message) => shown(of(message)));
  const [head = "", ...rows] = tableLines(
    [
      { head: "id", cells: cells(({ id }) => id), rank: 0, minWidth: 12 },
      { head: isDead ? "since" : "due", cells: cells(({ atMs }) => new Date(atMs).toISOString()), rank: 0 },
      { head: "deliveries", cells: cells(({ attempt, attempts }) => `${attempt} of ${attempts}`), rank: 2 },
      { head: "priority", cells: cells(({ priority }) => `${priority}`), rank: 3, isRight: true },
      { head: isDead ? "why" : "payload", cells: cells(isDead ? whyOf : payloadOf), rank: 1, minWidth: 12 },
    ],
    widthOf(stdout),
  );
  return [colorsFor(stdout).bold(head), ...rows].map((line) => `${line}\n`).join("");
}

function whyOf({ lastError }: QueuedMessage): string {
  return lastError ?? "";
}

function payloadOf({ payload, corrupt }: QueuedMessage): string {
  return corrupt ? `CORRUPT: ${corrupt.why}` : JSON.stringify(plain(payload));
}

/** The payload in a form that JSON can represent. */
function plain(payload: unknown): unknown {
  return payload instanceof Uint8Array ? { base64: Buffer.from(payload).toString("base64") } : payload;
}

function shown(text: string): string {
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS - 1)}…`;
}
