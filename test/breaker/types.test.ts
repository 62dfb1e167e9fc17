import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { root } from "../house/sources.ts";

test("what a user may write compiles, and a breaker without a condition does not, with exact optional properties", {
  timeout: 60_000,
}, () => {
  const file = join(root, "test/breaker/types.ts");
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram([file], { ...options, noEmit: true, exactOptionalPropertyTypes: true });
  const source = program.getSourceFile(file)!;
  const told = program.getSemanticDiagnostics(source);
  expect(told.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))).toEqual([]);
});
