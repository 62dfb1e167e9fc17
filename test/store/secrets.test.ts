import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { httpStore, Lock, redisStore, type Store } from "../../src/entries/index.ts";
import { redacted, withoutSecrets } from "../../src/store/secrets.ts";

const SECRET = "s3cr%40t/pl\\anted";
const reported = (error: unknown) =>
  `${inspect(error, { depth: 9, showHidden: true })}${JSON.stringify(error)}${(error as Error).stack}`;

test.each([
  "valkey://app:s3cret@db:6379",
  " redis://app:s3cret@db:6379",
  "REDIS://app:s3cret@db:6379",
  '"redis://app:s3cret@db:6379"',
  "redis+tls://app:s3cret@db:6379",
  "app:s3cret@db:6379",
  "redis://app:s3cret@[bad",
  "redis://app:s3cret@db:port",
  "s3cret",
])("an invalid URL, %s, is refused without its content", (url) => {
  const refusals = [
    () => redisStore(url),
    () => httpStore({ url, token: "s3cret" }),
    () => httpStore({ url: "https://a", token: "s3cret\n" }),
  ];
  for (const open of refusals) {
    let error: unknown;
    try {
      open();
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ name: "OrielError", code: "ARGUMENT" });
    expect(reported(error)).not.toContain("s3cret");
  }
});

test("a client's error keeps its message, code and causes, and neither its secrets nor its properties", () => {
  const error = Object.assign(new Error(`AUTH ${SECRET} failed`, { cause: new Error(encodeURIComponent(SECRET)) }), {
    code: "EAUTH",
    command: { name: "auth", args: [SECRET] },
  });
  const clean = withoutSecrets(error, [SECRET]);
  expect(clean).toMatchObject({ message: "AUTH *** failed", code: "EAUTH" });
  expect(reported(clean)).not.toContain("anted");
  for (const form of [SECRET, JSON.stringify(SECRET), encodeURIComponent(SECRET), btoa(SECRET)])
    expect(redacted(`a ${form} b`, [SECRET])).not.toContain(form.slice(1, -1));
});

test("a server that echoes a request gets no token into an error", async () => {
  for (const status of [200, 400, 401, 404, 500]) {
    const server = createServer((request, response) => {
      response
        .writeHead(status)
        .end(
          status === 400
            ? JSON.stringify({ error: request.headers.authorization })
            : `<p>${request.headers.authorization}`,
        );
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const store: Store = httpStore({ url, token: "s3cret-token", deadline: 200 });
    const error = await new Lock(store, "a").tryLock().then(
      () => expect.fail("answered"),
      (reason) => reason,
    );
    expect(error).toMatchObject({ name: "OrielError", structure: "Lock" });
    expect(reported(error), String(status)).not.toContain("s3cret");
    await store.close();
    server.close();
  }
});
