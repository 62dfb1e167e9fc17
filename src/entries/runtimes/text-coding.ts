/**
 * TextEncoder and TextDecoder for environments of tests that have Node but not these globals, such as jsdom. The build puts
 * them in the place of the globals (scripts/package/build.mjs). Where both are missing, the package loads, and the first use throws.
 */
interface Coders {
  TextEncoder?: typeof globalThis.TextEncoder;
  TextDecoder?: typeof globalThis.TextDecoder;
}

const world = globalThis as Coders & { process?: { getBuiltinModule?(name: "node:util"): Coders | undefined } };

function absent(name: string) {
  return class {
    encode(): never {
      throw new ReferenceError(`${name} is not defined`);
    }
    decode = this.encode;
    encodeInto = this.encode;
  } as never;
}

const node = world.TextEncoder && world.TextDecoder ? undefined : world.process?.getBuiltinModule?.("node:util");

export const TextEncoder: typeof globalThis.TextEncoder =
  world.TextEncoder ?? node?.TextEncoder ?? absent("TextEncoder");
export const TextDecoder: typeof globalThis.TextDecoder =
  world.TextDecoder ?? node?.TextDecoder ?? absent("TextDecoder");
