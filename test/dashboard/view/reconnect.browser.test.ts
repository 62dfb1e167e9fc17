import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Series } from "../../../src/entries/index.ts";
import { dashboard } from "../../../src/operate/dashboard/dashboard.ts";
import { atEnd, oncePerFile } from "../../harness/ends.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { holds, inChromium, openPage } from "../page.ts";
import { sceneOn } from "../scene.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));
const TOKEN = "0123456789abcdef";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A server whose handler can be replaced, as a proxy does when what is behind it restarts. Open connections end. */
async function proxy(first: Handler) {
  let handler = first;
  const server = createServer((request, response) => handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    replace(next: Handler) {
      handler = next;
      server.closeAllConnections();
    },
  };
}

/** A proxy's own page, which is not JSON. */
const answering =
  (status: number): Handler =>
  (_request, response) =>
    response.writeHead(status, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>");

const streamsOf = (requests: readonly string[]) => requests.filter((each) => each.includes("api/stream")).length;

inChromium((browser) => {
  async function opened(browserPage: Page, url: string, name: string) {
    await browserPage.goto(url);
    await browserPage.waitForSelector(`.space .name a:text-is("${name}")`);
  }

  test.each([502, 503])("the page connects again after an answer with status %d", async (status) => {
    const { store, announced } = sceneOn((await redis()).url);
    const name = `reconnected ${status}`;
    const kept = [new Series(store, name)];
    await announced(kept.length);
    const board = dashboard(store);
    const on: Handler = (request, response) => void board.node(request, response);
    const { url, replace } = await proxy(on);
    const { page, requests } = await openPage(await browser());
    await opened(page, url, name);
    replace(answering(status));
    await page.waitForSelector("text=The dashboard does not answer.");
    const refusals = page.waitForResponse((each) => each.url().includes("api/overview") && each.status() === status);
    await refusals;
    const before = streamsOf(requests);
    replace(on);
    await page.waitForSelector(".notice.bad", { state: "hidden" });
    await holds(page, 'document.querySelector(".health .good") !== null');
    expect(streamsOf(requests) - before).toBe(1);
    // The stream lives: another structure appears by itself.
    kept.push(new Series(store, `${name} later`));
    await announced(kept.length);
    await page.waitForSelector(`.space .name a:text-is("${name} later")`, { timeout: 240_000 });
  });

  test("the page asks for the token when the server begins to want one, and goes on with it", async () => {
    const { store, announced } = sceneOn((await redis()).url);
    const kept = [new Series(store, "guarded")];
    await announced(kept.length);
    const [open, guarded] = [dashboard(store), dashboard(store, { token: TOKEN })];
    const { url, replace } = await proxy((request, response) => void open.node(request, response));
    const { page, requests } = await openPage(await browser());
    await opened(page, url, "guarded");
    replace((request, response) => void guarded.node(request, response));
    await page.waitForSelector("#token", { timeout: 240_000 });
    expect(await page.locator(".notice.bad:visible").count()).toBe(0);
    const before = requests.length;
    await page.fill("#token", "wrong");
    await page.keyboard.press("Enter");
    await page.waitForSelector("text=This is not the token.");
    expect(requests.length - before).toBe(1); // only the login
    await page.fill("#token", TOKEN);
    await page.keyboard.press("Enter");
    await page.waitForSelector('.space .name a:text-is("guarded")');
    await holds(page, 'document.querySelector(".health .good") !== null');
    expect(streamsOf(requests)).toBeGreaterThan(1);
  });
});
