import { join } from "node:path";
import { luaFolder, readableScript } from "../../scripts/lua/compose-script.mjs";
import type { Script } from "../../src/store/contract.ts";

type Change = [step: string, text: string, instead: string];

/** The place where an append has built its bytes. */
const WRITTEN = "local expiry = expiry_of(stamp, retention, chunk_ms)";

/** Faults of the scripts that a soak must find: the change, and the expected complaint. */
export const PLANTS: Record<string, { changes: Change[]; found: RegExp }> = {
  "an open chunk gets no expiry": {
    changes: [
      ["journal/rotate", ', "PXAT", expiry)', ")"],
      ["journal/append", ', "PXAT", whole(expiry))', ")"],
      ["journal/append", 'redis.call("PEXPIREAT", key, whole(expiry))', ""],
    ],
    found: /never expires/,
  },
  "a closed chunk expires a minute early": {
    changes: [
      ["journal/rotate", 'redis.call("PEXPIREAT", closed, expiry)', 'redis.call("PEXPIREAT", closed, expiry - 60000)'],
    ],
    found: /expires at/,
  },
  "an append now and then writes nothing and says it did": {
    changes: [["journal/append", WRITTEN, `if string.byte(written, 9) % 20 == 0 then written = "" end ${WRITTEN}`]],
    found: /acknowledged and is missing/,
  },
  "an append now and then writes its frame under a second number": {
    changes: [
      [
        "journal/append",
        WRITTEN,
        `if metas == "" and string.byte(written, 9) % 20 == 0 then
           written = written .. string.sub(written, 1, 8) .. struct.pack("<I4", now % 4294967296) .. string.sub(written, 13)
         end ${WRITTEN}`,
      ],
    ],
    found: /is there twice/,
  },
};

/** The changed scripts of a plant, by step. Throws for a text that no longer exists. */
export function plantedScripts(plant: string): Record<string, Script> {
  const { changes } = PLANTS[plant]!;
  const steps = [...new Set(changes.map(([step]) => step))];
  return Object.fromEntries(
    steps.map((step) => [
      step,
      changed(
        readableScript(join(luaFolder, `${step}.lua`)),
        changes.filter(([of]) => of === step),
      ),
    ]),
  );
}

function changed(readable: string, changes: readonly Change[]): Script {
  let text = readable;
  for (const [step, old, instead] of changes) {
    if (!text.includes(old)) throw new Error(`${step} no longer has: ${old}`);
    text = text.replaceAll(old, () => instead);
  }
  return { text };
}
