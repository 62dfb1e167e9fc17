// The package in an editor: every type that a signature names can be imported, and options take their documented values.
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { ENTRIES, isPrivate, type PublicName, PublicTypes } from "./public-types.ts";

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

it("let a user write the code of test/types/user, under the strictest flags", () => {
  expect(types.errorsOf("test/types")).toEqual([]);
});

describe.each(ENTRIES)("the types of entry %s", (entry) => {
  const names = types.namesOf(entry);

  it("are exported wherever a public signature names them", () => {
    const exported = new Set(names.map(({ symbol }) => symbol));
    const missing = names.flatMap((name) =>
      [...typesIn(name)].filter(([symbol]) => !exported.has(symbol)).map(([, type]) => `${type}, in ${name.name}`),
    );
    expect(missing).toEqual([]);
  });

  const options = names.filter(({ name }) => /(Options|Query|Mirror|Rules)$/.test(name) && name !== "SendOptions");
  const properties = options.flatMap(({ name, declarations }) =>
    declarations.flatMap(propertiesOf).map((node) => ({ path: `${name}.${node.name.getText()}`, node })),
  );

  it("take durations as durations, named without a unit", () => {
    // oriel passes these itself: to its errors and to sinks.
    const known = ["OrielErrorOptions.retryAfterMs", "RowsQuery.fromMs", "RowsQuery.toMs", "SinkCallOptions.timeoutMs"];
    const inMs = properties.map(({ path }) => path).filter((path) => /Ms$/.test(path) && !known.includes(path));
    expect(inMs).toEqual([]);
  });

  it("take undefined for each option that may be absent, also under exactOptionalPropertyTypes", () => {
    const exact = properties.filter(({ node }) => node.questionToken && !takesUndefined(node));
    expect(exact.map(({ path }) => path)).toEqual([]);
  });
});

function propertiesOf(node: ts.Node): ts.PropertySignature[] {
  const inner: ts.PropertySignature[] = ts.isPropertySignature(node) ? [node] : [];
  // A function's own types come from oriel.
  if (!ts.isFunctionTypeNode(node)) ts.forEachChild(node, (child) => void inner.push(...propertiesOf(child)));
  return inner;
}

function takesUndefined({ type }: ts.PropertySignature): boolean {
  const members = type && ts.isUnionTypeNode(type) ? type.types : [type];
  return members.some(
    (each) => each?.kind === ts.SyntaxKind.UndefinedKeyword || each?.kind === ts.SyntaxKind.UnknownKeyword,
  );
}
