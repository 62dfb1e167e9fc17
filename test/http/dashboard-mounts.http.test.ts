// The dashboard in each framework, below a path of its own.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MemoryStore, memoryStore } from "../../src/entries/index.ts";
import { type Dashboard, dashboard } from "../../src/operate/dashboard/dashboard.ts";
import { until } from "../harness/until.ts";

interface Served {
  url: string;
  close(): unknown;
}

async function listening(listener: RequestListener): Promise<Served> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/oriel`, close };
}

const MOUNTS: Record<string, (board: Dashboard) => Promise<Served>> = {
  "node:http": (board) => listening((request, response) => void board.node(request, response)),
  Express: (board) => {
    const app = express();
    app.use(express.json());
    app.use("/admin/oriel", board.node);
    return listening(app);
  },
  "a router in a router of Express": (board) => {
    const [app, inner] = [express(), express.Router()];
    inner.use("/oriel", board.node);
    app.use("/admin", inner);
    return listening(app);
  },
  Fastify: async (board) => {
    const app = fastify();
    app.register(board.fastify, { prefix: "/admin/oriel" });
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    return { url: `${url}/admin/oriel`, close: () => app.close() };
  },
  Hono: async (board) => {
    const app = new Hono();
    app.all("/admin/oriel/*", board.hono);
    app.all("/admin/oriel", board.hono);
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
    if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/oriel`,
      close: () => server.close(),
    };
  },
};

let store: MemoryStore;
beforeAll(() => {
  store = memoryStore();
});
afterAll(() => store.close());

describe.each(Object.entries(MOUNTS))("%s", (_, mount) => {
  it("serves the page, its files, data, a stream and actions below the path", async () => {
    const { url, close } = await mount(dashboard(store, { allowActions: true }));
    try {
      const page = await fetch(url); // the slash is added by a redirect
      expect([page.status, page.url, page.redirected]).toEqual([200, `${url}/`, true]);
      expect(await page.text()).toContain('<script type="module" src="page.js">');
      expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
      for (const file of ["page.js", "page.css"])
        expect((await (await fetch(`${url}/${file}`)).text()).length).toBeGreaterThan(5000);
      const overview = await fetch(`${url}/api/overview`);
      expect(overview.headers.get("set-cookie")).toContain("Path=/admin/oriel/;");
      const { form } = (await overview.json()) as { form: string };
      const stopped = new AbortController();
      const stream = await fetch(`${url}/api/stream`, { signal: stopped.signal });
      const { value } = await stream.body!.getReader().read();
      expect(new TextDecoder().decode(value)).toMatch(/^event: health\ndata: \{"state":"up"/);
      stopped.abort();
      const cookie = overview.headers.get("set-cookie")!.split(";")[0]!;
      const headers = { cookie, "x-oriel-form": form };
      const action = await fetch(`${url}/api/action?id=none&action=reset`, { method: "POST", headers });
      expect([action.status, await action.text()]).toEqual([400, expect.stringContaining("names no structure")]);
      expect((await fetch(`${url}/api/action`, { method: "POST" })).status).toBe(403);
      expect((await fetch(`${url}/nothing.txt`)).status).toBe(404);
    } finally {
      await close();
    }
  });
});

it("a page that goes away ends its stream, so that nothing is asked for any more", async () => {
  let calls = 0;
  const counted = {
    ...store,
    run(...call: Parameters<MemoryStore["run"]>) {
      calls++;
      return store.run(...call);
    },
  } as MemoryStore;
  const { url, close } = await MOUNTS["node:http"]!(dashboard(counted));
  const stopped = new AbortController();
  const stream = await fetch(`${url}/api/stream`, { signal: stopped.signal });
  await stream.body!.getReader().read();
  stopped.abort();
  await until("nothing is asked for any more", async () => {
    const before = calls;
    await new Promise((resolve) => setTimeout(resolve, 2500)); // more than the time between two answers
    return calls === before;
  });
  close();
});
