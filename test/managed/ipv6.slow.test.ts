import { networkInterfaces } from "node:os";
import { describe, expect, test } from "vitest";
import { Lock } from "../../src/entries/index.ts";
import { slotOf } from "../../src/store/keys.ts";
import { reportOf } from "../doctor/report-of.ts";
import { oncePerFile } from "../harness/ends.ts";
import { startCluster } from "../harness/servers/redis-cluster.ts";
import { freePort, startRedis } from "../harness/servers/redis-server.ts";
import { clusterOpeners, failureOf, openers, passLock } from "./openers.ts";

/** A container may be without IPv6. */
const hasIpv6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === "::1"));

const started = oncePerFile(() => startRedis({ tcp: true, host: "::1" }));
const startedCluster = oncePerFile(() => startCluster(2, 0, undefined, { host: "::1" }));

describe.skipIf(!hasIpv6)("a server with an address of IPv6", () => {
  test.each(Object.entries(openers))("over %s: calls and messages pass", async (_of, open) => {
    const { port } = await started();
    const store = open(`redis://[::1]:${port}/0`);
    await passLock(store);
    expect(store.address).toBe(`[::1]:${port}`);
  });

  test.each(Object.entries(openers))("over %s: an error names the address", async (_of, open) => {
    const port = await freePort();
    const { message } = await failureOf(open(`redis://[::1]:${port}/3`, { deadline: 200 }));
    expect(message).toMatch(/nothing accepts connections at this address \(.*ECONNREFUSED ::1:\d+\)/);
    expect(message).toContain(`(redis at [::1]:${port}/3)`);
  });

  test("the doctor", async () => {
    const { port } = await started();
    const { report, check } = await reportOf(`redis://[::1]:${port}/0`);
    expect(report.address).toBe(`[::1]:${port}`);
    expect(check("connection")).toMatchObject({ verdict: "good" }); // of this machine, so not unencrypted on a network
    expect(check("steps").verdict).toBe("good");
  });
});

describe.skipIf(!hasIpv6)("a cluster whose nodes announce addresses of IPv6", () => {
  test.each(Object.entries(clusterOpeners))("over %s: calls and messages pass on both nodes", async (_of, open) => {
    const { urls } = await startedCluster();
    const store = open(urls);
    for (let i = 0; i < 6; i++) await passLock(store);
  });

  test.each(Object.entries(clusterOpeners))("over %s: MOVED leads to the other node", async (_of, open) => {
    const cluster = await startedCluster();
    const store = open(cluster.urls);
    const lock = new Lock(store, "moved");
    const key = store.keyOf("moved");
    const first = await lock.tryLock();
    await first!.release();
    await cluster.moveSlot(slotOf(key), 1 - (await cluster.ownerOf(key)));
    const second = await lock.tryLock();
    expect(second!.fence).toBeGreaterThan(first!.fence);
    expect(await second!.release()).toBe(true);
  });

  test("the doctor", async () => {
    const { urls } = await startedCluster();
    const { report, check } = await reportOf(urls.join(","));
    expect(report.mode).toBe("cluster");
    expect(check("steps").verdict).toBe("good");
  });
});
