import { parseAst } from "rolldown/parseAst";

/** Classes whose `new` without arguments, or with such, every bundler drops. */
const COLLECTIONS = ["Map", "Set", "WeakMap", "WeakSet"];

/** `64 * 2 ** 20` and `1 / 0`, as `Infinity` is written. Alone they are folded, but bundlers keep a list or object of them. */
const isNumber = (node) => node?.type === "BinaryExpression" || node?.object?.name === "Number";

/** Whether bundlers drop the expression by themselves when nobody uses its value. `namespaces` are imported as `* as name`. */
function isPlain(node, namespaces) {
  const all = (...nodes) => nodes.every((each) => each === null || isPlain(each, namespaces));
  switch (node.type) {
    case "Literal":
    case "Identifier":
    case "ArrowFunctionExpression":
    case "FunctionExpression":
    case "ClassExpression":
      return true;
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
    case "TSInstantiationExpression":
    case "ParenthesizedExpression":
      return all(node.expression);
    case "UnaryExpression":
      return all(node.argument);
    case "BinaryExpression":
    case "LogicalExpression":
      return all(node.left, node.right) && ![node.left, node.right].some((side) => typeof side.value === "bigint");
    case "ConditionalExpression":
      return all(node.test, node.consequent, node.alternate);
    case "TemplateLiteral":
      return all(...node.expressions);
    case "ArrayExpression":
      return all(...node.elements) && !node.elements.some(isNumber);
    case "ObjectExpression":
      return node.properties.every(
        (each) => each.type === "Property" && !each.computed && all(each.value) && !isNumber(each.value),
      );
    case "MemberExpression":
      return node.object.type === "Identifier" && (namespaces.has(node.object.name) || node.object.name === "Number");
    case "NewExpression":
      return COLLECTIONS.includes(node.callee.name) && all(...node.arguments);
    default:
      return false;
  }
}

/** Whether bundlers drop the call once it is marked: they keep what its arguments compute. */
const isPlainCall = (node) =>
  (node.type === "NewExpression" || node.type === "CallExpression") &&
  [node.callee, ...node.arguments].every(({ type }) => /^(Literal|Identifier|ArrowFunctionExpression)$/.test(type));

const isPlainClass = ({ body }) =>
  body.body.every(
    (member) =>
      member.declare || (member.type !== "StaticBlock" && (!member.computed || member.key.object?.name === "Symbol")),
  );

/**
 * A plug-in that marks what a module makes when it is loaded as droppable: `const x = make()` becomes
 * `const x = /* @__PURE__ *\/ make()`, with a function around it where that does not suffice. `isPure` chooses the modules. A file of
 * dist holds many, so a bundler that could not drop a line would keep all that the line mentions.
 */
export const pureConstants = (isPure) => ({
  name: "pure constants",
  resolveId: (path) => (path === "oriel:made" ? path : undefined),
  load: (id) => (id === "oriel:made" ? "export const made = (make) => make();" : undefined),
  transform(code, id) {
    if (!isPure(id)) return;
    const { body } = parseAst(code, { lang: "ts" });
    const namespaces = new Set(
      body.flatMap(({ specifiers = [] }) =>
        specifiers.flatMap(({ type, local }) => (type === "ImportNamespaceSpecifier" ? [local.name] : [])),
      ),
    );
    let marked = "";
    let at = 0;
    const mark = (node, before = "") => {
      const text = code.slice(node.start, node.end);
      const call = isPlainCall(node) ? text : `made(() => (${text}))`;
      marked += `${code.slice(at, node.start)}${before}/* @__PURE__ */ ${call}`;
      at = node.end;
    };
    for (const statement of body) {
      const declared = statement.declaration ?? statement;
      if (declared.type === "ClassDeclaration" && !isPlainClass(declared))
        mark(declared, `const ${declared.id.name} = `);
      if (declared.type !== "VariableDeclaration") continue;
      for (const { id: name, init } of declared.declarations)
        if (init !== null && name.type === "Identifier" && !isPlain(init, namespaces)) mark(init);
    }
    if (at > 0) return { code: `import { made } from "oriel:made";${marked}${code.slice(at)}`, map: null };
  },
});
