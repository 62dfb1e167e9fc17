import { OrielError, show } from "../../../src/base/errors.ts";
import { memoryStore } from "../../../src/entries/memory-store.ts";
import type { MemoryStore } from "../../../src/store/memory/memory.ts";
import { TRAP, WRONG } from "./values.ts";

/** Creates the right arguments. It receives the store and the called object. */
export type Right = (store: MemoryStore) => unknown[];

/** A called subject with right arguments: the methods of an object, or a function or constructor. */
export interface Subject {
  /** The function or class; absent for objects that oriel makes. */
  called?: unknown;
  /** Right arguments of the function or constructor. */
  right?: Right;
  /** An object to call methods of; default: made by the constructor. */
  object?: (store: MemoryStore) => unknown;
  /** Calls whose plain objects are data with any names, so no name is a misspelt option. */
  data?: readonly string[];
  /** Right arguments of each method (of a static method, its name is "static name"). */
  methods?: Record<string, Right>;
  /** Other right arguments of methods, with options that exclude those. */
  also?: Record<string, Right>;
}

interface Variant {
  readonly what: string;
  readonly args: unknown[];
  /** The wrong option and its value. */
  readonly option?: string;
  readonly value?: unknown;
}

/** True for a plain object, whose keys are options. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false;
  return !("keyOf" in value || "collect" in value); // a store or source
}

/** The right arguments with one of them, or one option, wrong. */
function* variants(right: () => unknown[]): Generator<Variant> {
  const count = right().length;
  for (let i = 0; i < count; i++) {
    const at = (value: unknown) => right().map((each, j) => (i === j ? value : each));
    for (const [what, make] of Object.entries(WRONG)) yield { what: `argument ${i + 1}: ${what}`, args: at(make()) };
    const options = right()[i];
    if (!isPlain(options)) continue;
    const getter = { ...options };
    for (const name of Object.keys(options)) {
      for (const [what, make] of Object.entries(WRONG)) {
        const value = make();
        yield { what: `${name}: ${what}`, args: at({ ...(right()[i] as object), [name]: value }), option: name, value };
      }
      Object.defineProperty(getter, name, {
        enumerable: true,
        get() {
          throw TRAP;
        },
      });
    }
    yield { what: "getters that throw", args: at(getter) };
    const misspelt = { ...options, misspelt_option: 1 };
    yield { what: "misspelt option", args: at(misspelt), option: "option", value: "misspelt_option" };
  }
}

/** Makes each wrong call of a subject. Yields a line for each complaint. */
export async function* walk(name: string, subject: Subject): AsyncGenerator<string> {
  for (const row of rowsOf(name, subject)) yield* walkRow(row);
}

interface Row {
  where: string;
  right: Right;
  make(store: MemoryStore): unknown;
  call(it: unknown, args: unknown[]): unknown;
  isData: boolean;
}

function* rowsOf(name: string, subject: Subject): Generator<Row> {
  const { called, right, object, methods = {}, also = {}, data = [] } = subject;
  if (called && right) {
    const call = isClass(called)
      ? (_: unknown, args: unknown[]) => Reflect.construct(called as never, args)
      : (_: unknown, args: unknown[]) => (called as Call)(...args);
    yield { where: name, right, make: () => undefined, call, isData: data.includes("new") };
  }
  for (const [method, rightOf] of [...Object.entries(methods), ...Object.entries(also)]) {
    const isStatic = method.startsWith("static ");
    const make = isStatic
      ? () => called
      : (object ?? ((store: MemoryStore) => Reflect.construct(called as never, right!(store))));
    const key = isStatic ? method.slice(7) : method;
    const call = (it: unknown, args: unknown[]) => (it as Record<string, Call>)[key]!(...args);
    yield { where: `${name}.${method}`, right: rightOf, make, call, isData: data.includes(key) };
  }
}

type Call = (...args: unknown[]) => unknown;

async function* walkRow({ where, right, make, call, isData }: Row): AsyncGenerator<string> {
  const model = memoryStore();
  const steps = stepsOf(model);
  for (const { what, args, ...given } of variants(() => right(model))) {
    const store = memoryStore();
    const it = await make(store);
    const own = stepsOf(store);
    steps.length = 0;
    // Objects of the model's store in the right arguments count like those of the object's own store.
    const mustRefuse = !isData && what === "misspelt option";
    const wrong = await fault(() => call(it, args), {
      ...given,
      mustRefuse,
      isData,
      it,
      stepsOf: () => [...steps, ...own],
    });
    if (wrong !== undefined) yield `${where}(${what}): ${wrong}`;
    await (it as { close?: () => unknown } | undefined)?.close?.();
    await store.close();
  }
}

/** An object of options in right arguments, and those that the called code knows there. */
export interface KnownOptions {
  /** The line in src that checks their names. Where it checks a copy, the call. */
  place: string;
  given: string[];
  known: string[];
}

/** Passes each object of the right arguments with an unknown option, and reads the known ones from the refusal. */
export async function* knownOptions(name: string, subject: Subject): AsyncGenerator<KnownOptions> {
  for (const { where, right, make, call } of rowsOf(name, subject)) {
    const model = memoryStore();
    for (const path of pathsOf(right(model))) {
      const store = memoryStore();
      const it = await make(store);
      const args = right(model);
      const holder = path.slice(0, -1).reduce((each, key) => each[key] as Holder, args as unknown as Holder);
      const key = path.at(-1)!;
      const options = holder[key] as object;
      const watched = { place: where };
      holder[key] = watching({ ...options, misspelt_option: 1 }, watched);
      try {
        const answer = await call(it, args);
        await (answer as { close?: () => unknown } | undefined)?.close?.();
      } catch (error) {
        const known = / is "misspelt_option"; it must be one of (.*?)(;|$)/.exec(String(error))?.[1];
        if (known !== undefined) yield { ...watched, given: Object.keys(options), known: known.split(", ") };
      }
      await (it as { close?: () => unknown } | undefined)?.close?.();
      await store.close();
    }
  }
}

type Holder = Record<string, unknown>;

/** The paths to all plain objects in a value. */
function* pathsOf(value: unknown): Generator<string[]> {
  if (!isPlain(value) && !Array.isArray(value)) return;
  for (const [key, each] of Object.entries(value)) {
    if (isPlain(each)) yield [key];
    for (const path of pathsOf(each)) yield [key, ...path];
  }
}

/** The same object, which notes where `checkKnown`, or `settingsOf` by it, looks at its names. */
function watching(options: object, watched: { place: string }): object {
  return new Proxy(options, {
    ownKeys(target) {
      const frames = (new Error().stack ?? "").split("\n");
      const at = frames.findIndex((frame) => frame.includes("at checkKnown"));
      const caller = at < 0 ? undefined : frames.slice(at + 1).find((frame) => !frame.includes("at settingsOf"));
      const [, line] = /\/(src\/[^:?]+:\d+)/.exec(caller ?? "") ?? [];
      if (line !== undefined) watched.place = line;
      return Reflect.ownKeys(target);
    },
  });
}

/** The steps that a store runs from now on. */
function stepsOf(store: MemoryStore): string[] {
  const steps: string[] = [];
  const { run } = store;
  store.run = async (operation, ...rest) => {
    const answer = await run(operation, ...rest);
    steps.push(operation.name);
    return answer;
  };
  return steps;
}

interface Given extends Pick<Variant, "option" | "value"> {
  mustRefuse: boolean;
  isData: boolean;
  /** The called object, undefined for a function or constructor. */
  it: unknown;
  stepsOf(): string[];
}

/** Complaints about the outcome of a call. */
async function fault(call: () => unknown, given: Given): Promise<string | undefined> {
  const HANGS = Symbol();
  try {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, 10_000, HANGS);
    });
    const answer = await Promise.race([call(), late]);
    clearTimeout(timer);
    if (answer === HANGS) return "hangs";
    await (answer as { close?: () => unknown } | null | undefined)?.close?.();
    return given.mustRefuse ? "is accepted" : undefined;
  } catch (error) {
    if (error === TRAP || /proxy that has been revoked/.test(String(error))) return undefined;
    if (!(error instanceof OrielError)) return `throws ${String(error).slice(0, 120)}`;
    if (error.message.length > 700) return `has a message of ${error.message.length} characters`;
    if (error.code === "ARGUMENT" && error.structure === undefined)
      return `names no structure: ${error.message.slice(0, 120)}`;
    return error.code === "ARGUMENT" ? faultOfRefusal(error, given) : undefined;
  }
}

/** Options whose elements are separate arguments, such as a dimension. */
const NAMELESS = ["values"];
/** Options whose values no message shows. */
const SECRET = ["url", "token"];

/** A refused call must have no effect, and its error names structure, argument and value. */
function faultOfRefusal(error: OrielError, { option, value, isData, it, stepsOf }: Given): string | undefined {
  const { message, structure, structureName } = error;
  const name = (it as { name?: unknown } | undefined)?.name;
  const steps = stepsOf();
  if (steps.length > 0) return `is refused after ${steps}: ${message}`;
  if (!message.startsWith(structure!)) return `does not begin with its structure: ${message}`;
  if (typeof name === "string" && structureName !== undefined && structureName !== name)
    return `names another: ${message}`;
  if (!/ (is|has|are|must|lacks) /.test(message)) return `says too little: ${message}`;
  if (option === undefined || isData || NAMELESS.includes(option)) return undefined;
  // Of an array, the element that is wrong: `percentile is null`.
  if (!message.includes(option) && !message.includes(`${option.replace(/s$/, "")} is `))
    return `names no option: ${message}`;
  // A missing value is not shown. A nested value is named by its path.
  const isShown = value === undefined || Object(value) === value || SECRET.includes(option);
  if (!isShown && !message.includes(show(value))) return `names no value: ${message}`;
  return undefined;
}

export function isClass(value: unknown): boolean {
  return typeof value === "function" && /^class\b/.test(Function.prototype.toString.call(value));
}
