import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Redis } from "ioredis";

/**
 * Lets the saves of a server fail, so that it refuses to write with MISCONF. It was started with
 * `--enable-protected-configs yes`, in a folder of its own.
 */
export async function breakSaves(admin: Redis, folder: string): Promise<void> {
  const gone = join(folder, "gone");
  mkdirSync(gone);
  await admin.call("CONFIG", "SET", "save", "86400 1000000", "dir", gone);
  rmSync(gone, { recursive: true });
  await save(admin, "err");
}

export async function mendSaves(admin: Redis, folder: string): Promise<void> {
  await admin.call("CONFIG", "SET", "save", "", "dir", folder);
  await save(admin, "ok");
}

async function save(admin: Redis, status: "ok" | "err"): Promise<void> {
  await admin.bgsave().catch(() => {});
  for (let i = 0; i < 200; i++) {
    const info = await admin.info("persistence");
    const isOver = info.includes("rdb_bgsave_in_progress:0");
    if (isOver && info.includes(`rdb_last_bgsave_status:${status}`)) return;
    if (isOver) await admin.bgsave().catch(() => {});
    await pause(10);
  }
  throw new Error(`the server's last save is not ${status}`);
}
