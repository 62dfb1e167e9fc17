import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import lock from "../../package-lock.json" with { type: "json" };
import { lockedPart, neededPackages } from "../../scripts/command/install.mjs";

const part = lockedPart<object>(lock.packages, neededPackages(manifest));

test("what npm start installs has every package that the command contains", async () => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL("../../src/command/cli.ts", import.meta.url))],
    absWorkingDir: fileURLToPath(new URL("../../", import.meta.url)),
    bundle: true,
    platform: "node",
    format: "esm",
    external: [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)],
    write: false,
    metafile: true,
  });
  const inside = Object.keys(metafile.inputs).flatMap(
    (input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? [],
  );
  expect(inside.length).toBeGreaterThan(40);
  expect(inside.filter((path) => !(path in part))).toEqual([]);
});

test("it has the builders and their own packages, and leaves the test tools out", () => {
  for (const name of ["assemblyscript", "binaryen", "esbuild", "@fontsource/inter", "uplot", "ioredis"])
    expect(part).toHaveProperty([`node_modules/${name}`]);
  for (const name of ["vitest", "typescript", "rolldown-plugin-dts", "@biomejs/biome"])
    expect(part).not.toHaveProperty([`node_modules/${name}`]);
});
