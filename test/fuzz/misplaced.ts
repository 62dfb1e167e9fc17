import type { Random } from "../simulator/world/random.ts";
import type { Command, Damage, Stencil } from "./stencil.ts";

/**
 * Valid bytes of the same structure in a wrong place: those of the same key of another name (`twin`, indexed by this one's
 * keys), those of another key of this name, or two swapped keys. Undefined without such a key of the same type.
 */
export function misplaced(
  random: Random,
  stencil: Stencil,
  own: string,
  keyOf: (own: string) => string,
  twin: Stencil,
): { damage: Damage; commands: Command[] } | undefined {
  const { content, dump, leftMs } = stencil.keys.find(({ key }) => key === own)!;
  const key = keyOf(own);
  const same = twin.keys.find((each) => each.key === own);
  if (same && random.chance(0.4))
    return {
      damage: { key, how: "its bytes under another name", row: undefined },
      commands: [["RESTORE", key, leftMs, same.dump, "REPLACE"]],
    };
  const others = stencil.keys.filter((each) => each.key !== own && each.content.type === content.type);
  if (others.length === 0) return undefined;
  const other = random.pick(others);
  const otherKey = keyOf(other.key);
  const moved: Command = ["RESTORE", key, leftMs, other.dump, "REPLACE"];
  if (random.chance(0.5))
    return { damage: { key, how: `the bytes of ${otherKey}`, row: undefined }, commands: [moved] };
  return {
    damage: { key, otherKey, how: `swapped with ${otherKey}`, row: undefined },
    commands: [moved, ["RESTORE", otherKey, other.leftMs, dump, "REPLACE"]],
  };
}
