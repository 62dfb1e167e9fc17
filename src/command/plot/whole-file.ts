import { randomBytes } from "node:crypto";
import { open, realpath, rename, rm, stat } from "node:fs/promises";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Writes a file whole or not at all: into a new file beside it, which then takes its name. If that fails, for example on a
 * full disk, the old file stays as it was and the new one is removed. A signal that would end the process waits until then.
 * A link keeps pointing to its file, which is replaced. The new file has the rights of the old one.
 */
export async function writeWhole(file: string, data: string | Uint8Array): Promise<void> {
  const target = await realpath(file).catch(() => file);
  const temporary = `${target}.${randomBytes(6).toString("hex")}.tmp`;
  const old = await stat(target).catch(() => undefined);
  const held = holdSignals();
  try {
    const handle = await open(temporary, "wx");
    try {
      if (old !== undefined) await handle.chmod(old.mode);
      await handle.writeFile(data);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    held.release();
  }
}

/** Holds back signals; `release` then ends the process by the first that came. */
function holdSignals(): { release(): void } {
  let came: NodeJS.Signals | undefined;
  const hold = (signal: NodeJS.Signals) => {
    came ??= signal;
  };
  for (const signal of SIGNALS) process.on(signal, hold);
  return {
    release() {
      for (const signal of SIGNALS) process.off(signal, hold);
      if (came !== undefined) process.kill(process.pid, came);
    },
  };
}
