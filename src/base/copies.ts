import { version } from "../generated/version.ts";

const everywhere = Symbol.for("oriel");

/**
 * What copies of the package in one process share: its ESM and its CommonJS form, or two installed versions. Each copy has
 * classes and module variables of its own, and objects of one copy meet functions of another.
 */
const world = globalThis as unknown as { [everywhere]?: Record<string, object> };

/** The object of this name, which the first copy makes. Its form is the same in all versions. */
export function sharedByCopies<T extends object>(name: string, make: () => T): T {
  world[everywhere] ??= {};
  const shared = world[everywhere];
  shared[name] ??= make();
  return shared[name] as T;
}

/** As `sharedByCopies`, but only among copies of the same version. */
export function sharedByEqualCopies<T extends object>(name: string, make: () => T): T {
  return sharedByCopies(`${name} ${version}`, make);
}

/** The kind of each structure of any copy. */
const kinds = sharedByCopies("kinds", () => new WeakMap<object, string>());

/** Notes the kind of a new structure. */
export function noteKind(structure: object, kind: string): void {
  kinds.set(structure, kind);
}

/**
 * The `must` of a message about an argument that is no instance of this copy's class. It says so if the value is an instance
 * of another copy's.
 */
export function ofThisCopy(must: string, value: unknown, kind: string): string {
  const one = Array.isArray(value) ? value.find((each) => kindOf(each) === kind) : value;
  return kindOf(one) === kind
    ? `${must} of this copy of oriel; it is of another copy in this process: load the package once, as ESM or as CommonJS, in one version`
    : must;
}

function kindOf(value: unknown): string | undefined {
  return typeof value === "object" && value !== null ? kinds.get(value) : undefined;
}
