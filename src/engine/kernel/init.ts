import { argumentError, OrielError, show } from "../../base/errors.ts";
import { atSite, Site } from "../../base/site.ts";
import { useKernel } from "./choose.ts";
import type { KernelName } from "./contract.ts";
import { wasmKernel } from "./wasm/wasm.ts";
import { compile, instantiate, isBytes, type WasmExports } from "./wasm/wasm-exports.ts";

/**
 * The package's `kernels.simd.wasm` or `kernels.scalar.wasm`, in one of three forms: a compiled module (the result of
 * importing the file in Workers), a module namespace with that module as its default export, or the bytes of the file.
 */
export type KernelSource = object;

interface FetchResponse {
  readonly ok: boolean;
  readonly status: number;
  arrayBuffer(): Promise<ArrayBuffer>;
}
declare const fetch: (url: string | URL) => Promise<FetchResponse>;

/**
 * Starts the kernels of `source` synchronously, replaces the active kernel, and returns the name of the new one.
 * Throws KERNEL if the runtime does not allow compilation (Workers: bytes in a handler) or the source is not oriel's.
 * Cost: about 100 us for bytes.
 */
export function initSync(source: KernelSource): KernelName {
  return atSite("initSync", () => start(source));
}

function start(source: KernelSource): KernelName {
  if (typeof source !== "object" || source === null)
    throw argumentError(
      "source",
      source,
      "a WebAssembly.Module, or the bytes of kernels.simd.wasm or kernels.scalar.wasm",
    );
  const given = (source as { default?: object }).default ?? source;
  let exports: WasmExports;
  let name: KernelName;
  try {
    exports = instantiate(given);
    name = exports.vectorBytes() === 16 ? "wasm-simd" : "wasm-scalar";
  } catch (cause) {
    throw new OrielError("KERNEL", `the source does not start: ${reasonOf(cause)}`, { cause });
  }
  useKernel({ name, create: () => wasmKernel(name, exports) });
  return name;
}

/**
 * Asynchronous `initSync`. It also accepts a URL, a Response, or a promise of any source, and compiles bytes
 * asynchronously. Also rejects with KERNEL if a URL cannot be fetched or the response status is not 2xx.
 */
export function init(source: KernelSource | string | PromiseLike<KernelSource | string>): Promise<KernelName> {
  return new Site("init").run(undefined, () => startFrom(source));
}

async function startFrom(source: KernelSource | string | PromiseLike<KernelSource | string>): Promise<KernelName> {
  const given = await source;
  if (typeof given === "string" || given instanceof URL) return startFrom(await fetched(given));
  if (!isResponse(given)) return start(given !== null && isBytes(given) ? await compiled(given) : given);
  if (!given.ok) throw new OrielError("KERNEL", `the response with the kernels has status ${given.status}`);
  return startFrom(await given.arrayBuffer());
}

async function fetched(url: string | URL): Promise<object> {
  try {
    return await fetch(url);
  } catch (cause) {
    throw new OrielError("KERNEL", `${show(String(url))} cannot be fetched: ${reasonOf(cause)}`, { cause });
  }
}

async function compiled(bytes: Uint8Array | ArrayBuffer): Promise<object> {
  try {
    return await compile(bytes);
  } catch (cause) {
    throw new OrielError("KERNEL", `the bytes do not compile: ${reasonOf(cause)}`, { cause });
  }
}

function reasonOf(cause: unknown): string {
  // Some runtimes put the whole source into the message.
  return (cause instanceof Error ? cause.message : String(cause)).slice(0, 300);
}

function isResponse(source: object | null): source is FetchResponse {
  return typeof (source as Partial<FetchResponse> | null)?.arrayBuffer === "function";
}
