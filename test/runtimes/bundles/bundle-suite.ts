import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { composeScript } from "../../../scripts/lua/compose-script.mjs";
import { steppedScript } from "../../harness/clock/stepped-script.ts";
import { files } from "../../store/ops/operations.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Scripts are composed here: other runtimes have no files to compose them from. */
const composed: Plugin = {
  name: "composed scripts",
  setup(builder) {
    builder.onLoad({ filter: /(compose-script\.mjs|stepped-script\.ts)$/ }, () => ({ contents: standIn() }));
  },
};

function standIn(): string {
  const scripts = Object.entries(files).map(([name, file]) => [
    basename(name),
    { plain: composeScript(file), stepped: steppedScript(file) },
  ]);
  return `
const scripts = ${JSON.stringify(Object.fromEntries(scripts))};
const of = (path) => scripts[/(\\w+)(\\.lua)?$/.exec(path)[1]];
export const composeScript = (file) => of(file).plain;
// The same object each time, by which a store knows what it has loaded.
export const onSteppedClock = (clock) => {
  const made = {};
  return ({ name }) => (made[name] ??= { ...of(name).stepped, leading: () => [Math.floor(clock())] });
};
`;
}

/** CommonJS packages require Node's own modules, which an ES module can only do through this. */
const WHOLE: BuildOptions = {
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire("file:///suite.mjs");' },
};

/**
 * A main with `runStoreSuite` of a suite in scope, as text of an ES module with everything that it needs; or, for another bundler, without
 * its packages.
 */
export async function bundledSuite(main: string, options: BuildOptions = WHOLE, suite = "store"): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { runStoreSuite } from "./${suite}-suite.ts";\n${main}\n`,
      resolveDir: here("../stores"),
      sourcefile: "main.mjs",
    },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    logLevel: "error",
    alias: { vitest: here("../stores/suite-runner.ts") },
    define: { "import.meta.url": '"file:///suite.mjs"' },
    plugins: [composed],
    ...options,
  });
  return outputFiles![0]!.text;
}
