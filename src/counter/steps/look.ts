import { script } from "../../generated/counter/look.ts";
import type { Operation } from "../../store/contract.ts";
import type { Shard } from "./shard.ts";

/** A generation that the store has, as the fields count them; its sum and nonce as they stand. */
interface SeenGeneration {
  number: number;
  sum: string;
  nonce: string | undefined;
}

/** What is known of a shard without its counts; each field as it stands, undefined where there is none. */
export interface Look {
  /** Redis' type; "none": there is nothing. */
  type: string;
  layout: string | undefined;
  current: string | undefined;
  acknowledged: string | undefined;
  base: string | undefined;
  born: string | undefined;
  pure: string | undefined;
  generations: SeenGeneration[];
  /** Where batches that were given again had been acknowledged, each `<born>.<generation in the ledger>`. */
  again: string[];
}

const FIELDS = ["@layout", "@cur", "@ack", "@base", "@born", "@pure"];
const MOST_GENERATIONS = 16;

/** Looks at a shard, whatever lies there; law in lua/counter/look.lua. */
export const look: Operation<null, Look> = {
  name: "counter/look",
  script,
  keyCount: 1,
  arity: 0,
  repeatable: true,
  encode: () => [],
  decode: (reply) => lookOf(new TextDecoder().decode(reply)),
  local(keys, key) {
    const shard = keys.get(key) as Shard | undefined;
    if (!shard || shard.fields.size === 0) return lookOf("none");
    const line = (text: string | undefined) => (text ?? "-").replaceAll("\n", " ");
    const lines = ["hash", ...FIELDS.map((field) => line(shard.get(field)))];
    const { current, acknowledged } = shard.numbers;
    for (let number = acknowledged + 1; number <= Math.min(current, acknowledged + MOST_GENERATIONS); number++)
      lines.push(`${number} ${line(shard.get(`@n:${number}`))} ${line(shard.get(`@x:${number}`))}`);
    return lookOf(`${lines.join("\n")}\n${shard.get("@again") ?? ""}`);
  },
};

function lookOf(text: string): Look {
  const [type = "none", ...lines] = text.split("\n");
  const [layout, current, acknowledged, base, born, pure] = lines.slice(0, FIELDS.length).map(given);
  const rest = lines.slice(FIELDS.length).filter((line) => line !== "");
  const generations = rest
    .filter((line) => !line.startsWith("r"))
    .map((line) => {
      const [number, sum = "-", nonce = "-"] = line.split(" ");
      return { number: Number(number), sum, nonce: given(nonce) };
    });
  const names = rest.filter((line) => line.startsWith("r")).flatMap((line) => line.trimEnd().split(" "));
  const again = names.map((name) => name.split("|")[1] ?? "");
  return { type, layout, current, acknowledged, base, born, pure, generations, again: [...new Set(again)] };
}

function given(text: string): string | undefined {
  return text === "-" ? undefined : text;
}
