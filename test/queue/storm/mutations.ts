import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Plugin } from "esbuild";
import { luaFolder, readableScript, scriptNameOf } from "../../../scripts/lua/compose-script.mjs";

/** A rule of the queue, and how its code looks without it. */
export interface Mutation {
  rule: string;
  /** A file of src, or a step of lua. */
  file: string;
  from: string;
  to: string;
}

export const MUTATIONS: readonly Mutation[] = [
  {
    rule: "what is claimed is nobody else's for a while",
    file: "lua/queue/settle-and-claim.lua",
    from: "text_of(score_of(10, until_ms, count + 1))",
    to: "text_of(score_of(0, now, count + 1))",
  },
  {
    rule: "a message is kept while its handler runs",
    file: "lua/queue/extend.lua",
    from: 'if #moved > 0 then redis.call("ZADD", times, spread(moved)) end',
    to: "",
  },
  {
    rule: "a result whose answer is lost is brought again",
    file: "queue/worker/shard-poller.ts",
    from: '!isApplied || settlement.verb !== "release"',
    to: "!isApplied",
  },
  {
    rule: "a result is refused of whom the message is not claimed for",
    file: "lua/queue/settle-and-claim.lua",
    from: "score % 128 == delivery and not seen[member]",
    to: "not seen[member]",
  },
  {
    rule: "an id that is known is not added again",
    file: "lua/queue/add.lua",
    from: "local is_known = known[i + 4] or here[id] or (copies and copies[i]) or (ends[i] and tonumber(ends[i]) >= score_of(12, now, 0))",
    to: "local is_known = here[id]",
  },
  {
    rule: "a message takes the expiry of an empty shard away",
    file: "lua/queue/add.lua",
    from: "if levels ~= known[3] then keep(times, messages) end",
    to: "",
  },
  {
    rule: "what lapsed is claimed again",
    file: "lua/queue/settle-and-claim.lua",
    from: "local lapsed = first_of(times, 10, now, limit)",
    to: "local lapsed = {}",
  },
];

/** The text that a mutation changes. */
export function textOf({ file }: Mutation): string {
  return file.endsWith(".lua")
    ? readableScript(join(luaFolder, "..", file))
    : readFileSync(join(luaFolder, "..", "src", file), "utf8");
}

/** Builds with one rule broken. */
export function mutating(mutation: Mutation): Plugin {
  const { file, from, to } = mutation;
  return {
    name: "mutation",
    setup(build) {
      build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
        const isLua = file.endsWith(".lua");
        if (!path.endsWith(isLua ? "/src/generated/scripts/queue.ts" : `/src/${file}`)) return undefined;
        const contents = readFileSync(path, "utf8");
        return { contents: isLua ? withChangedScript(contents) : changed(contents), loader: "ts" };
      });
    },
  };

  function changed(text: string): string {
    if (text.split(from).length !== 2) throw new Error(`${file} has not one ${JSON.stringify(from)}`);
    return text.replace(from, () => to);
  }

  function withChangedScript(module: string): string {
    const text = changed(textOf(mutation));
    const sha = createHash("sha1").update(text).digest("hex");
    const declaration = `export const ${scriptNameOf(basename(file))} =`;
    if (!module.includes(declaration)) throw new Error(`no module has the script of ${file}`);
    return module.replace(declaration, () => `${declaration} ${JSON.stringify({ sha, text })};\nconst _unchanged =`);
  }
}
