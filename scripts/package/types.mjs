// Writes the declarations of types into dist, for import and for require. One program of TypeScript serves both.
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";

/** A runtime's recipe has the types of its entry, where the classes are declared: a constant made of a class is no type. */
export async function writeTypes(root, dist, entries) {
  const bundle = await rolldown({
    cwd: root,
    input: entries,
    platform: "node",
    external: /^[^./]/,
    plugins: [dts({ emitDtsOnly: true })],
    experimental: { attachDebugInfo: "none" }, // no names of sources between the types
    checks: { pluginTimings: false },
  });
  for (const ending of ["js", "cjs"])
    await bundle.write({
      dir: dist,
      format: "es",
      entryFileNames: `[name].${ending}`,
      chunkFileNames: `[name]-[hash].${ending}`,
      minifyInternalExports: false,
    });
  await bundle.close();
}
