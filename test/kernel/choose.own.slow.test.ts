// The choice: lazy, once, self-tested, named, forceable, never silent. Each test loads a fresh copy of the module.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Kernel } from "../../src/engine/kernel/contract.ts";
import { js } from "../../src/engine/kernel/js/js.ts";
import { selfTest } from "../../src/engine/kernel/self-test.ts";
import { wasmScalar } from "../../src/engine/kernel/wasm/wasm-scalar.ts";
import { wasmSimd } from "../../src/engine/kernel/wasm/wasm-simd.ts";
import { BUILDS } from "./builds.ts";

const given = process.env.ORIEL_KERNEL;
let choose: typeof import("../../src/engine/kernel/choose.ts");

beforeEach(async () => {
  delete process.env.ORIEL_KERNEL;
  vi.resetModules();
  choose = await import("../../src/engine/kernel/choose.ts");
});

afterEach(() => {
  delete process.env.ORIEL_KERNEL;
  if (given !== undefined) process.env.ORIEL_KERNEL = given;
});

/** A candidate that compiles and answers, but one method wrongly. */
function broken(name: Kernel["name"], wrong: Partial<Kernel>) {
  return { name, create: (): Kernel => ({ ...js.create(), name, ...wrong }) };
}

const cannotCompile = {
  name: "wasm-simd",
  create: (): Kernel => {
    throw new Error("Wasm code generation disallowed by embedder");
  },
} as const;

describe("the choice of a kernel", () => {
  test("prefers SIMD, then scalar, then JS, in any order of the list", () => {
    choose.provideKernels([js, wasmScalar, wasmSimd]);
    expect(choose.activeKernel().name).toBe("wasm-simd");
    expect(choose.activeKernel()).toBe(choose.activeKernel());
  });

  test("compiles nothing before the first use, and each kernel at most once", () => {
    let compiled = 0;
    const counted = {
      name: "js" as const,
      create: () => {
        compiled++;
        return js.create();
      },
    };
    choose.provideKernels([counted]);
    expect(compiled).toBe(0);
    choose.activeKernel();
    choose.activeKernel();
    expect(compiled).toBe(1);
  });

  test("skips a kernel that does not compile, and one with wrong answers", () => {
    choose.provideKernels([cannotCompile, broken("wasm-scalar", { pairwiseSum: () => 7 }), js]);
    expect(choose.activeKernel().name).toBe("js");
  });

  test("without a provided kernel is an error", () => {
    expect(() => choose.activeKernel()).toThrow(
      expect.objectContaining({ code: "KERNEL", message: expect.stringContaining("no kernel was provided") }),
    );
  });

  test("without a working kernel is an error that names each reason", () => {
    choose.provideKernels([cannotCompile, broken("js", { pairwiseSum: () => 7 })]);
    expect(() => choose.activeKernel()).toThrow(
      /wasm-simd failed: Wasm code generation disallowed.*js failed: pairwiseSum returned 7 instead of 0/,
    );
  });
});

describe("the kernel for sorted runs", () => {
  const small = { name: "wasm-simd" as const, create: () => ({ ...js.create(), name: "wasm-simd" as const }) };

  test("is the small one where no other is provided, and the active one elsewhere, also later", () => {
    expect(choose.withRunKernel("user", small)).toBe("user");
    expect(choose.runKernel().name).toBe("wasm-simd");
    expect(choose.runKernel()).toBe(choose.runKernel());
    choose.provideKernels([js]);
    expect(choose.runKernel()).toBe(choose.activeKernel());
    expect(choose.runKernel().name).toBe("js");
  });

  test("is an error if it is missing, or answers wrongly", () => {
    expect(() => choose.runKernel()).toThrow("no kernel was provided");
    choose.withRunKernel("user", broken("wasm-simd", { sort: () => {} }));
    expect(() => choose.runKernel()).toThrow(/no kernel works here: .*sort returned/);
  });

  test("is the one that a caller starts by init", () => {
    choose.useKernel(js);
    expect(choose.runKernel()).toBe(choose.activeKernel());
  });
});

describe("a forced kernel", () => {
  test("by the environment", () => {
    process.env.ORIEL_KERNEL = "wasm-scalar";
    choose.provideKernels([wasmSimd, wasmScalar, js]);
    expect(choose.activeKernel().name).toBe("wasm-scalar");
  });

  test("that was not provided is an error", () => {
    process.env.ORIEL_KERNEL = "wasm-simd";
    choose.provideKernels([js]);
    expect(() => choose.activeKernel()).toThrow('kernel "wasm-simd" is not available; provided here: js');
    process.env.ORIEL_KERNEL = "avx";
    expect(() => choose.activeKernel()).toThrow('kernel "avx" is not available');
  });

  test("by a call, and back", () => {
    choose.provideKernels([wasmSimd, wasmScalar, js]);
    choose.forceKernel("js");
    expect(choose.activeKernel().name).toBe("js");
    choose.forceKernel(null);
    expect(choose.activeKernel().name).toBe("wasm-simd");
  });

  test("that fails does not change the choice", () => {
    choose.provideKernels([cannotCompile, js]);
    choose.forceKernel("js");
    expect(() => choose.forceKernel("wasm-simd")).toThrow(
      expect.objectContaining({ code: "KERNEL", message: expect.stringContaining("disallowed by embedder") }),
    );
    expect(choose.activeKernel().name).toBe("js");
  });

  test("is not read where there is no process", () => {
    choose.provideKernels([js]);
    vi.stubGlobal("process", undefined);
    try {
      expect(choose.activeKernel().name).toBe("js");
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

describe("the self-test", () => {
  test.each(BUILDS.map((kernel) => [kernel.name, kernel] as const))("passes %s", (_name, kernel) => selfTest(kernel));

  test.each([
    ["summary", { summary: (v: Float64Array) => ({ ...js.create().summary(v), m2: 1 }) }],
    ["pairwiseSum", { pairwiseSum: () => 1 }],
    ["pairwiseSquares", { pairwiseSquares: () => 1 }],
    ["sort", { sort: () => {} }],
    ["select", { select: () => [0, 1] }],
    ["rank", { rank: () => ({ below: 10, equal: 0 }) }],
    ["trim", { trim: (times: BigInt64Array, values: Float64Array) => ({ times, values }) }],
  ])("detects a wrong %s", (_method, wrong) => {
    expect(() => selfTest(broken("js", wrong as Partial<Kernel>).create())).toThrow("instead of");
  });
});
