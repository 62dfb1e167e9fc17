import Table from "cli-table3";
import { DelayQueue, type QueuedMessage } from "../entries/index.ts";
import { argumentError } from "../errors.ts";
import { openStore } from "./open-store.ts";
import { Output } from "./output.ts";
import type { Streams } from "./streams.ts";

export interface QueueTyped {
  redis: string;
  prefix?: string;
  shards: string;
  limit: string;
  ids?: string;
  json?: boolean;
}

const SHOWN_CHARACTERS = 60;

/** Prints the state of a delay queue, or redrives its dead messages. Resolves to 0. */
export async function queue(what: string, name: string, typed: QueueTyped, streams: Streams): Promise<number> {
  const store = openStore(typed.redis, typed.prefix);
  const output = new Output(streams.stdout);
  try {
    const delayQueue = new DelayQueue(store, name, { shards: Number(typed.shards) });
    const limit = Number(typed.limit);
    if (what === "counts") await output.write(countsText(await delayQueue.counts(), typed));
    else if (what === "peek") await output.write(listText(await delayQueue.peek({ limit }), typed));
    else if (what === "dead") await output.write(listText(await delayQueue.dead.list({ limit }), typed));
    else await output.write(redrivenText(await delayQueue.dead.redrive(idsOf(typed)), typed));
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
  if (json) return `${JSON.stringify(counts)}\n`;
  const { isPaused, ...numbers } = counts;
  const text = Object.entries(numbers).map(([state, count]) => `${state} ${count}`);
  return `${text.join(" · ")}${isPaused ? " · paused" : ""}\n`;
}

function redrivenText(redriven: number, { json }: QueueTyped): string {
  return json ? `${JSON.stringify({ redriven })}\n` : `${redriven} redriven\n`;
}

function listText(messages: readonly QueuedMessage[], { json }: QueueTyped): string {
  if (json) return messages.map((each) => `${JSON.stringify({ ...each, payload: plain(each.payload) })}\n`).join("");
  if (messages.length === 0) return "none\n";
  const isDead = messages[0]!.state === "dead";
  const head = ["id", isDead ? "since" : "due", "deliveries", "priority", isDead ? "why" : "payload"];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const { id, atMs, attempt, attempts, priority, payload, lastError, corrupt } of messages)
    table.push([
      shown(id),
      new Date(atMs).toISOString(),
      `${attempt} of ${attempts}`,
      `${priority}`,
      shown(isDead ? (lastError ?? "") : corrupt ? `CORRUPT: ${corrupt.why}` : JSON.stringify(plain(payload))),
    ]);
  return `${table.toString()}\n`;
}

/** The payload in a form that JSON can represent. */
function plain(payload: unknown): unknown {
  return payload instanceof Uint8Array ? { base64: Buffer.from(payload).toString("base64") } : payload;
}

/** The text on one line, without terminal control characters. */
function shown(text: string): string {
  const line = text.replace(/\p{Cc}/gu, " ");
  return line.length <= SHOWN_CHARACTERS ? line : `${line.slice(0, SHOWN_CHARACTERS - 1)}…`;
}
