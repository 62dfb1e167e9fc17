import { MAX_LISTED_GENERATIONS } from "../../../generated/layouts/counter.ts";
import { lookScript } from "../../../generated/scripts/counter.ts";
import type { Operation } from "../../../store/contract.ts";
import type { Shard } from "./shard.ts";

/** A generation in the store, by its number in the fields, with its stored sum and nonce. */
interface SeenGeneration {
  number: number;
  sum: string;
  nonce: string | undefined;
}

/** The state of a shard without its counts. Each field has its stored text; undefined if it does not exist. */
export interface Look {
  /** The type of the key in Redis. "none": it does not exist. */
  type: string;
  layout: string | undefined;
  current: string | undefined;
  acknowledged: string | undefined;
  base: string | undefined;
  born: string | undefined;
  pure: string | undefined;
  rebased: string | undefined;
  generations: SeenGeneration[];
  /** Where batches that were sent again had been acknowledged, each as `<born>.<generation in the ledger>`. */
  again: string[];
}

const FIELDS = ["@layout", "@cur", "@ack", "@base", "@born", "@pure", "@rebased"];

/** Reads the state of a shard, or of any other value under its key. Law in lua/counter/look.lua. */
export const look: Operation<null, Look> = {
  name: "counter/look",
  script: lookScript,
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
    for (let number = acknowledged + 1; number <= Math.min(current, acknowledged + MAX_LISTED_GENERATIONS); number++)
      lines.push(`${number} ${line(shard.get(`@n:${number}`))} ${line(shard.get(`@x:${number}`))}`);
    return lookOf(`${lines.join("\n")}\n${shard.get("@again") ?? ""}`);
  },
};

function lookOf(text: string): Look {
  const [type = "none", ...lines] = text.split("\n");
  const [layout, current, acknowledged, base, born, pure, rebased] = lines.slice(0, FIELDS.length).map(given);
  const rest = lines.slice(FIELDS.length).filter((line) => line !== "");
  const generations = rest
    .filter((line) => !line.startsWith("r"))
    .map((line) => {
      const [number, sum = "-", nonce = "-"] = line.split(" ");
      return { number: Number(number), sum, nonce: given(nonce) };
    });
  const names = rest.filter((line) => line.startsWith("r")).flatMap((line) => line.trimEnd().split(" "));
  const again = names.map((name) => name.split("|")[1] ?? "");
  return { type, layout, current, acknowledged, base, born, pure, rebased, generations, again: [...new Set(again)] };
}

function given(text: string): string | undefined {
  return text === "-" ? undefined : text;
}
