import type { Colors } from "picocolors/types";
import { OrielError } from "../../base/errors.ts";
import type { LockState, Store } from "../../entries/index.ts";
import { age } from "../../operate/format.ts";
import { openLock } from "../../operate/kinds/locks.ts";
import { readRegistry } from "../../store/registry/read-registry.ts";
import { openStore } from "../config/open-store.ts";
import type { ServerTyped } from "../config/redis-client.ts";
import { colorsFor, Output, type Streams, widthOf } from "../output.ts";
import { failureLines } from "../text/failure.ts";
import { jsonLine } from "../text/safe-text.ts";
import { tableLines } from "./columns.ts";
import { matcherOf } from "./find.ts";

export interface LockLsTyped extends ServerTyped {
  json?: boolean;
}

interface HeldLine extends LockState {
  name: string;
  fence: number;
  /** How long it has been held. */
  heldMs: number;
}

/** Locks that are asked at once. They share one script call for each slot. */
const BATCH = 200;

/** Lists the locks of the registry that are held. Resolves to 0, or to 1 if one could not be read. */
export async function lockLs(pattern: string | undefined, typed: LockLsTyped, streams: Streams): Promise<number> {
  const store = openStore(typed);
  const output = new Output(streams.stdout);
  try {
    const { structures, nowMs } = await readRegistry(store);
    const matches = matcherOf(pattern);
    const names = structures.flatMap(({ kind, name }) => (kind === "Lock" && matches(name) ? name : []));
    let status = 0;
    const held = await heldOf(store, names, nowMs, (error) => {
      // A failing server is the same for all locks.
      if (!(error instanceof OrielError) || error.code !== "CORRUPT") throw error;
      streams.stderr.write(failureLines(error, typed.json));
      status = 1;
    });
    if (typed.json) await output.write(held.map(jsonLine).join(""));
    else if (held.length === 0)
      await output.write(
        `No listed lock is held. The registry lists ${names.length}; oriel lock show NAME reads others too.\n`,
      );
    else {
      const lines = heldLines(held, widthOf(streams.stdout), colorsFor(streams.stdout));
      await output.write(lines.map((line) => `${line}\n`).join(""));
    }
    return status;
  } finally {
    await store.close();
  }
}

async function heldOf(
  store: Store,
  names: readonly string[],
  nowMs: number,
  onDamaged: (error: unknown) => void,
): Promise<HeldLine[]> {
  const held: HeldLine[] = [];
  for (let first = 0; first < names.length; first += BATCH) {
    const batch = names.slice(first, first + BATCH);
    const states = await Promise.allSettled(batch.map((name) => openLock(store, { name, settings: {} }).inspect()));
    for (const [i, settled] of states.entries()) {
      if (settled.status === "rejected") {
        onDamaged(settled.reason);
        continue;
      }
      const { fence, ...state } = settled.value;
      if (fence === null) continue;
      // A fence is the server's time in us when the hold began, unless the fence before was higher.
      held.push({ name: batch[i]!, ...state, fence, heldMs: Math.max(0, Math.floor(nowMs - fence / 1000)) });
    }
  }
  return held;
}

function heldLines(held: readonly HeldLine[], width: number | undefined, colors: Colors): string[] {
  const [head = "", ...rows] = tableLines(
    [
      { head: "lock", cells: held.map(({ name }) => name), rank: 0, minWidth: 16 },
      {
        head: "fence",
        cells: held.map(({ fence }) => `${fence}`),
        rank: 4,
      },
      {
        head: "held for",
        cells: held.map(({ heldMs }) => age(heldMs)),
        rank: 3,
        isRight: true,
      },
      { head: "lease left", cells: held.map(({ leftMs }) => age(leftMs)), rank: 1, isRight: true },
      {
        head: "waiting",
        cells: held.map(({ waitingProcesses }) => `${waitingProcesses}`),
        rank: 2,
        isRight: true,
        paint: (text, row) => (held[row]!.waitingProcesses > 0 ? colors.yellow(text) : text),
      },
    ],
    width,
  );
  return [colors.bold(head), ...rows];
}
