import { listScript } from "../../../generated/scripts/registry.ts";
import type { Operation } from "../../contract.ts";
import { unpackStrings } from "../../message-pack.ts";
import { entriesIn } from "./entries.ts";

export interface Page {
  nowMs: number;
  /** Of the next page; "0" after the last one. */
  cursor: string;
  entries: (readonly [field: string, record: string])[];
}

/** Reads one page of a table of the registry. lua/registry/list.lua states the rules. */
export const list: Operation<string, Page> = {
  name: "registry/list",
  script: listScript,
  arity: 1,
  keyCount: 1,
  repeatable: true,
  encode: (cursor) => [cursor],
  decode(reply) {
    const [now, cursor, ...parts] = unpackStrings(reply) as [string, string, ...string[]];
    const entries: Page["entries"] = [];
    for (let i = 0; i < parts.length; i += 2) entries.push([parts[i]!, parts[i + 1]!]);
    return { nowMs: Number(now), cursor, entries };
  },
  local: (keys, key, _cursor, nowMs) => ({ nowMs, cursor: "0", entries: [...entriesIn(keys, key)] }),
};
