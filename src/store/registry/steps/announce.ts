import { announceScript } from "../../../generated/scripts/registry.ts";
import { version } from "../../../generated/version.ts";
import type { Operation, Store } from "../../contract.ts";

export interface AnnounceInput {
  process: string;
  version: string;
  /** JSON about the process. */
  record: string;
  /** Each part is without line feeds. `shared` and `settings` are JSON. */
  structures: readonly { field: string; shared: string; settings: string }[];
}

/** The last announcement with other shared settings. */
export interface OtherSettings {
  shared: string;
  /** Server ms. */
  ms: number;
  process: string;
}

export interface AnnounceReply {
  nowMs: number;
  /** For each structure of the input. */
  others: (OtherSettings | undefined)[];
}

/** Keys after the base: the structures, when each was announced, the processes, and when each was seen. */
export const keysOf = (base: string): string[] =>
  ["structures", "structures:times", "processes", "processes:times"].map((part) => `${base}:${part}`);

/** Announces structures of one process. lua/registry/announce.lua states the rules. */
export const announce: Operation<AnnounceInput, AnnounceReply> = {
  name: "registry/announce",
  script: announceScript,
  arity: 4,
  keyCount: 4,
  keysOf,
  repeatable: true,
  localFrom: version,
  encode: ({ process, version, record, structures }) => [
    process,
    version,
    record,
    structures.map(({ field, shared, settings }) => `${field}\n${shared}\n${settings}\n`).join(""),
  ],
  decode(reply) {
    const [now, ...lines] = new TextDecoder().decode(reply).split("\n");
    const others: AnnounceReply["others"] = [];
    for (let i = 0; i + 2 < lines.length; i += 3) {
      const [shared, ms, process] = lines.slice(i, i + 3) as [string, string, string];
      others.push(ms === "" ? undefined : { shared, ms: Number(ms), process });
    }
    return { nowMs: Number(now), others };
  },
};

/**
 * The bases of the registry's keys. Locks have a table of their own: programs make many, with a name for each user or
 * order, and these must not displace the other structures.
 */
export const basesOf = (store: Pick<Store, "keyOf">): [structures: string, locks: string] => {
  const base = store.keyOf("registry");
  return [base, `${base}:locks`];
};
