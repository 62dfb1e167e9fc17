import { describe, test } from "vitest";
import { programs } from "../programs.ts";

const { platform, arch } = process;

/** Tests in a runtime. A missing runtime is reported. */
export function inRuntime(name: string, tests: (program: string) => void): void {
  const program = programs[name];
  if (program) {
    describe(name, () => tests(program));
    return;
  }
  const reason =
    name === "Chromium"
      ? "none found (ORIEL_CHROMIUM, PATH) nor to be had from the system's packages"
      : `no package for ${platform}-${arch}`;
  console.info(`${name}: not run: ${reason}`);
  describe(name, () => test.skip(`not run: ${reason}`));
}
