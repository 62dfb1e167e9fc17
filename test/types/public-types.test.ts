// The package in an editor: every type that a signature names can be imported, and options take their documented values.
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { isPrivate, type PublicName, PublicTypes } from "./public-types.ts";

const ENTRIES = ["index", "js", "slim", "kernel", "http", "sql"];
const types = new PublicTypes(ENTRIES);

/** The types that a public declaration names, and the names of values whose type it takes (`typeof`). */
function typesIn(from: PublicName): Map<ts.Symbol, string> {
  const found = new Map<ts.Symbol, string>();
  const visit = (node: ts.Node) => {
    if (isPrivate(node) || (from.isTypeOnly && ts.isConstructorDeclaration(node))) return;
    const symbol = types.namedBy(node);
    if (symbol && !found.has(symbol)) {
      // An editor writes out the type of a value, so it does not have to be exported.
      if (ts.isTypeQueryNode(node)) (symbol.declarations ?? []).forEach(visit);
      else found.set(symbol, symbol.name);
    }
    ts.forEachChild(node, visit);
  };
  from.declarations.forEach(visit);
  return found;
}

describe.each(ENTRIES)("the types of entry %s", (entry) => {
  const names = types.namesOf(entry);

  it("are exported wherever a public signature names them", () => {
    const exported = new Set(names.map(({ symbol }) => symbol));
    const missing = names.flatMap((name) =>
      [...typesIn(name)].filter(([symbol]) => !exported.has(symbol)).map(([, type]) => `${type}, in ${name.name}`),
    );
    expect(missing).toEqual([]);
  });

  it("take durations as durations, named without a unit", () => {
    const options = names.filter(({ name }) => /(Options|Query|Mirror|Rules)$/.test(name));
    const inMs = options.flatMap(({ name, declarations }) =>
      declarations.flatMap(propertiesOf).map((of) => `${name}.${of}`),
    );
    // oriel passes these itself: to its errors and to sinks.
    const known = ["OrielErrorOptions.retryAfterMs", "RowsQuery.fromMs", "RowsQuery.toMs", "SinkCallOptions.timeoutMs"];
    expect(inMs.filter((path) => /Ms$/.test(path) && !known.includes(path))).toEqual([]);
  });
});

function propertiesOf(node: ts.Node): string[] {
  const own = ts.isPropertySignature(node) ? [node.name.getText()] : [];
  const inner: string[] = [];
  ts.forEachChild(node, (child) => void inner.push(...propertiesOf(child)));
  return [...own, ...inner];
}
