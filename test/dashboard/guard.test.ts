import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MemoryStore, memoryStore, OrielError } from "../../src/entries/index.ts";
import { dashboard } from "../../src/operate/dashboard/dashboard.ts";
import type { DashboardOptions } from "../../src/operate/dashboard/options.ts";
import { type Answer, get, json, siteOf } from "./scene.ts";

const TOKEN = "correct horse battery staple".replaceAll(" ", "-");
let store: MemoryStore;
beforeAll(() => {
  store = memoryStore();
});
afterAll(() => store.close());

const ask = (url: string, options: DashboardOptions = {}, init: RequestInit = {}) =>
  dashboard(store, options).fetch(new Request(url, init));
const cookieOf = (response: Response) => response.headers.get("set-cookie")?.split(";")[0] ?? "";

describe("the Host of a request", () => {
  it.each(["localhost", "127.0.0.1:4680", "[::1]:4680", "LOCALHOST:1"])("may be %s", async (host) => {
    expect((await ask(`http://${host}/`)).status).toBe(200);
  });

  it.each(["evil.example", "localhost.evil.example:4680", "127.0.0.1.nip.io", "169.254.169.254", "[::2]"])(
    "is refused if it is %s, for the page and for data",
    async (host) => {
      for (const path of ["", "page.js", "api/overview", "api/stream"]) {
        const response = await ask(`http://${host}/${path}`);
        expect(response.status).toBe(403);
        expect(await response.text()).toContain("pass it in hosts");
      }
    },
  );

  it.each([
    ["http://ops.example.com/", { hosts: ["ops.example.com:80"] }, 200],
    ["http://ops.example.com/", { hosts: ["ops.example.com:443"] }, 403],
    ["https://ops.example.com/", { hosts: ["ops.example.com:443"] }, 200],
    ["https://ops.example.com/", { hosts: ["ops.example.com:80"] }, 403],
    ["http://ops.example.com/", { hosts: ["ops.example.com:443"], https: true }, 200],
    ["http://[::1]/", { hosts: ["[::1]:80"] }, 200],
  ])("%s with %j, which names a usual port: %i", async (url, options, status) => {
    expect((await ask(url, { ...options, token: TOKEN })).status).toBe(status);
  });

  it("is allowed by name, with or without a port", async () => {
    const options = { hosts: ["ops.example.com", "other.example:8443"], token: TOKEN };
    const statuses = ["ops.example.com", "ops.example.com:99", "other.example:8443", "other.example", "localhost"].map(
      async (host) => (await ask(`http://${host}/`, options)).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 403, 403]);
  });
});

describe("options", () => {
  it.each<[object, string]>([
    [
      { hosts: ["ops.example.com"] },
      'dashboard: hosts names "ops.example.com", which other machines can reach; pass token or authorize as well',
    ],
    [{ hosts: [] }, "dashboard: hosts is an empty array; it must be an array of one host name or more"],
    [{ hosts: ["http://x"] }, 'dashboard: hosts[0] is "http://x"; it must be a host name such as "ops.example.com"'],
    [{ token: "short secret" }, "dashboard: token has a wrong form; it must be 16 to 512 visible ASCII characters"],
    [{ authorize: true }, "dashboard: authorize is true; it must be a function of a Request"],
    [{ allowActions: 1 }, "dashboard: allowActions is 1; it must be true or false"],
    [{ https: "yes" }, 'dashboard: https is "yes"; it must be true or false'],
    [{ maskIds: "yes" }, 'dashboard: maskIds is "yes"; it must be true or false'],
    [{ sinks: { clicks: {} } }, 'dashboard: sinks["clicks"] is an object; it must be a sink of oriel/sql'],
    [
      { allowAction: true },
      'dashboard: option is "allowAction"; it must be one of token, hosts, authorize, https, allowActions, maskIds, sinks; did you mean "allowActions"?',
    ],
  ])("%o throws one clear error", (options, message) => {
    expect(() => dashboard(store, options as DashboardOptions)).toThrow(message);
  });
});

describe("the token", () => {
  const options = { token: TOKEN };

  it("is needed for all data, and not for the page's own files, which have none", async () => {
    for (const path of ["overview", "stream", "rank", "part", "audit"])
      expect((await ask(`http://localhost/api/${path}`, options)).status).toBe(401);
    for (const path of ["", "page.js", "page.css"]) {
      const response = await ask(`http://localhost/${path}`, options);
      expect(response.status).toBe(200);
      expect(await response.text()).not.toContain(TOKEN);
    }
  });

  it("opens a session, whose cookie is not the token and belongs to the dashboard's path alone", async () => {
    const login = (token: string) =>
      ask("https://localhost/ops/api/login", options, { method: "POST", headers: { "x-oriel-token": token } });
    for (const wrong of ["", TOKEN.slice(1), `${TOKEN}x`]) {
      const refused = await login(wrong);
      expect([refused.status, refused.headers.get("set-cookie")]).toEqual([401, null]);
    }
    const opened = await login(TOKEN);
    expect(opened.headers.get("set-cookie")).toMatch(
      /^oriel_dashboard=[0-9a-f]{64}; Path=\/ops\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    const cookie = cookieOf(opened);
    // Another process with the same token accepts it, and one with another token does not.
    expect((await ask("https://localhost/ops/api/overview", options, { headers: { cookie } })).status).toBe(200);
    const other = { token: `${TOKEN}-2` };
    expect((await ask("https://localhost/ops/api/overview", other, { headers: { cookie } })).status).toBe(401);
    const forged = cookie.slice(0, -1) + (cookie.endsWith("0") ? "1" : "0");
    expect((await ask("https://localhost/ops/api/overview", options, { headers: { cookie: forged } })).status).toBe(
      401,
    );
  });

  it("has no cookie that leaves http unencrypted by the flag Secure only there", async () => {
    const opened = await ask("http://localhost/api/login", options, {
      method: "POST",
      headers: { "x-oriel-token": TOKEN },
    });
    expect(opened.headers.get("set-cookie")).not.toContain("Secure");
  });
});

describe("a cookie", () => {
  const login = { method: "POST", headers: { "x-oriel-token": TOKEN } };

  it("has the flag Secure behind a proxy that ends TLS, with https", async () => {
    for (const https of [false, true]) {
      const { url } = await siteOf(store, { token: TOKEN, https });
      const opened = await fetch(`${url}api/login`, login);
      const overview = await fetch(`${url}api/overview`, { headers: { cookie: cookieOf(opened) } });
      for (const response of [opened, overview])
        expect(response.headers.get("set-cookie")!.endsWith("; SameSite=Strict; Secure")).toBe(https);
    }
  });

  it("takes no attribute from the path", async () => {
    for (const path of ["a;Domain=example.com/api/login", "a;Domain=example.com/api/overview"]) {
      const response = await ask(`http://localhost/${path}`, {}, path.endsWith("login") ? login : {});
      expect([response.status, response.headers.get("set-cookie")]).toEqual([400, null]);
    }
  });
});

describe("authorize", () => {
  it("decides about every request, the page included", async () => {
    const options = { authorize: (request: Request) => request.headers.get("x-user") ?? undefined };
    for (const path of ["", "page.js", "api/overview"]) {
      expect((await ask(`http://localhost/${path}`, options)).status).toBe(403);
      expect((await ask(`http://localhost/${path}`, options, { headers: { "x-user": "ada" } })).status).toBe(200);
    }
  });

  it("refuses what is neither true nor a name", async () => {
    for (const answer of [false, undefined, null, 1, ""] as never[])
      expect((await ask("http://localhost/", { authorize: () => answer })).status).toBe(403);
  });

  it.each<[string, () => never]>([
    ["an error", () => raise(new Error("the directory is down: secret"))],
    ["an error of oriel", () => raise(new OrielError("UNAVAILABLE", "the directory is down: secret"))],
    ["no error at all", () => raise(Object.create(null))],
  ])("that throws %s refuses the request, and the server goes on", async (_, fail) => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => warnings.push(message);
    process.on("warning", onWarning);
    let isFailing = true;
    const authorize = () => (isFailing ? fail() : "ada");
    const { url } = await siteOf(store, { authorize });
    for (const path of ["", "page.js", "api/overview", "api/action"]) {
      const response = await fetch(url + path, { method: path === "api/action" ? "POST" : "GET" });
      expect([response.status, await response.json()]).toEqual([
        500,
        { error: "authorize failed, so the request is refused; a warning of the dashboard's process says why" },
      ]);
      expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    }
    expect(warnings.filter((text) => text.startsWith("dashboard: authorize failed")).length).toBe(4);
    isFailing = false;
    expect((await fetch(`${url}api/overview`)).status).toBe(200);
    process.off("warning", onWarning);
  });
});

function raise(error: unknown): never {
  throw error;
}

describe("every response", () => {
  it.each(["", "page.js", "api/overview", "api/nothing", "nothing.txt"])(
    "%s has the strict header fields",
    async (path) => {
      const { headers } = await get(dashboard(store), path);
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      );
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    },
  );

  it("answers other methods and paths with 404 and 405", async () => {
    const post = { method: "POST" };
    expect((await ask("http://localhost/", {}, post)).status).toBe(405);
    expect((await ask("http://localhost/api/overview", {}, post)).status).toBe(405);
    expect((await ask("http://localhost/api/action", {})).status).toBe(405);
    for (const path of ["api/constructor", "api/toString", "favicon.ico", "page.css.map"])
      expect((await ask(`http://localhost/${path}`)).status).toBe(404);
  });

  it("moves a browser to the path with its slash, by a relative address", async () => {
    const response = await ask("http://localhost/admin/oriel");
    expect([response.status, response.headers.get("location")]).toEqual([302, "./oriel/"]);
  });
});

describe("the page's files", () => {
  it("take at most 80 kB by gzip in all, and are not sent again if they are known", async () => {
    let bytes = 0;
    for (const path of ["", "page.js", "page.css"]) {
      const response = await get(dashboard(store), path, { "accept-encoding": "gzip, br" });
      expect(response.headers.get("content-encoding")).toBe("gzip");
      bytes += (await response.arrayBuffer()).byteLength;
      const etag = response.headers.get("etag")!;
      expect((await get(dashboard(store), path, { "if-none-match": etag })).status).toBe(304);
    }
    console.info(`page: ${bytes} bytes by gzip`);
    expect(bytes).toBeLessThan(80_000);
    expect(bytes).toBeGreaterThan(20_000);
  });

  it("name no other place, and carry the licence of uPlot", async () => {
    const texts = await Promise.all(
      ["", "page.js", "page.css"].map(async (path) => (await get(dashboard(store), path)).text()),
    );
    expect(texts[1]).toContain("Leon Sorokin");
    const addresses = texts.join("\n").match(/https?:\/\/[\w.-]+/g) ?? [];
    // The namespace of SVG and the licence are no requests; the last one is the example of the empty page.
    expect(addresses.filter((address) => !address.endsWith("www.w3.org"))).toEqual([]);
  });
});

it("an empty store has an overview without structures", async () => {
  const overview = await json<Answer>(get(dashboard(store), "api/overview"));
  expect(overview).toMatchObject({ structures: [], processes: [], allowsActions: false, health: { state: "up" } });
  expect(overview.form).toMatch(/^[0-9a-f]{32}$/);
});
