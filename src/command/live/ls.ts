import type { Colors } from "picocolors/types";
import { age } from "../../operate/format.ts";
import { settingsText } from "../../operate/kinds/settings-text.ts";
import { type RegisteredStructure, readRegistry } from "../../store/registry/read-registry.ts";
import { openStore } from "../config/open-store.ts";
import type { ServerTyped } from "../config/redis-client.ts";
import { colorsFor, Output, type Streams, widthOf } from "../output.ts";
import { jsonLine, safeText } from "../text/safe-text.ts";
import { tableLines } from "./columns.ts";
import { kindOf, matcherOf } from "./find.ts";

export interface LsTyped extends ServerTyped {
  kind?: string;
  json?: boolean;
}

/** Lists the structures that the registry knows. Resolves to 0. */
export async function ls(pattern: string | undefined, typed: LsTyped, streams: Streams): Promise<number> {
  const kind = kindOf(typed.kind);
  const store = openStore(typed);
  const output = new Output(streams.stdout);
  try {
    const { structures, nowMs } = await readRegistry(store);
    const matches = matcherOf(pattern);
    const found = structures.filter((each) => (!kind || each.kind === kind) && matches(each.name));
    const listed = found.sort((a, b) => Number(!a.conflict) - Number(!b.conflict)); // conflicts first
    if (typed.json) await output.write(listed.map(jsonLine).join(""));
    else if (listed.length === 0)
      await output.write(structures.length > 0 ? NOTHING_MATCHES(structures.length) : EMPTY);
    else {
      const width = widthOf(streams.stdout);
      const colors = colorsFor(streams.stdout);
      const conflicts = listed.flatMap((each) => conflictLines(each, nowMs, colors));
      const lines = [...listLines(listed, nowMs, width, colors), ...conflicts];
      await output.write(lines.map((line) => `${line}\n`).join(""));
    }
    return 0;
  } finally {
    await store.close();
  }
}

export const EMPTY = `The registry lists nothing. Possible reasons:
- No process has lived for 0.2 s after it made a structure. Such processes announce nothing.
- The processes open their stores with \`registry: false\`.
- The processes use another prefix (--prefix), or another server or database.
- The processes use a version of oriel that has no registry.
`;

const NOTHING_MATCHES = (count: number) =>
  `Nothing matches. The registry lists ${count} ${count === 1 ? "structure" : "structures"}.\n`;

function listLines(
  listed: readonly RegisteredStructure[],
  nowMs: number,
  width: number | undefined,
  colors: Colors,
): string[] {
  const [head = "", ...rows] = tableLines(
    [
      { head: "kind", cells: listed.map(({ kind }) => kind), rank: 1, paint: colors.cyan },
      {
        head: "name",
        cells: listed.map(({ name, conflict }) => (conflict ? `${name} (conflict)` : name)),
        rank: 0,
        minWidth: 16,
        paint: (text, row) => (listed[row]!.conflict ? colors.red(text) : text),
      },
      { head: "settings", cells: listed.map(({ settings }) => settingsText(settings)), rank: 3, minWidth: 16 },
      { head: "procs", cells: listed.map(({ processes }) => `${processes}`), rank: 4, isRight: true },
      { head: "version", cells: listed.map(({ version }) => version), rank: 5 },
      { head: "seen", cells: listed.map(({ seenMs }) => `${age(nowMs - seenMs)} ago`), rank: 2, isRight: true },
    ],
    width,
  );
  return [colors.bold(head), ...rows];
}

/** Both sides of a conflict. */
function conflictLines({ kind, name, ...last }: RegisteredStructure, nowMs: number, colors: Colors): string[] {
  const { conflict } = last;
  if (!conflict) return [];
  // The last announcement has settings besides those that all processes must share.
  const shared = Object.fromEntries(Object.keys(conflict.settings).map((key) => [key, last.settings[key]]));
  const sides = [{ ...last, settings: shared }, conflict].map(
    ({ process, settings, seenMs }) =>
      `  ${process}, ${age(nowMs - seenMs)} ago: ${settingsText(settings) || JSON.stringify(settings)}`,
  );
  const head = `${kind} ${JSON.stringify(name)}: two processes use settings that must be the same`;
  return ["", colors.red(safeText(head, 300)), ...sides.map((side) => safeText(side, 1000))];
}
