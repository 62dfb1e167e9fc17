import { describe, expect, test } from "vitest";
import { dashboard } from "../../../src/operate/dashboard/dashboard.ts";
import type { AuditEntry } from "../../../src/operate/dashboard/protocol.ts";
import { KINDS } from "../../../src/operate/kinds/kinds.ts";
import { oncePerFile } from "../../harness/ends.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { act, openPageOf } from "../acting.ts";
import { get, json, sceneOn } from "../scene.ts";
import { ACTED } from "./acted.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));
const TOKEN = "a token of 27 characters, ok".replaceAll(" ", "-");

test("the table has a row for each action of each kind", () => {
  const actions = Object.entries(KINDS).flatMap(([kind, { actions }]) =>
    Object.keys(actions).map((name) => `${kind} ${name}`),
  );
  expect(actions.length).toBeGreaterThan(5);
  expect(ACTED.map(({ kind, action }) => `${kind} ${action}`).sort()).toEqual(actions.sort());
});

describe.each(ACTED)("$kind $action", ({ kind, action, make, before, after }) => {
  async function made(options: { allowActions: boolean; token?: string }) {
    const { store, announced } = sceneOn((await redis()).url);
    const name = `${action} ${options.allowActions} ${options.token ?? ""}`;
    const { target, effect, sinks } = await make(store, name);
    await announced(1);
    expect(await effect()).toEqual(before);
    const board = dashboard(store, { ...options, authorize: () => "ada", ...(sinks && { sinks }) });
    const headers: Record<string, string> = {};
    if (options.token !== undefined) {
      const login = { method: "POST", headers: { "x-oriel-token": options.token } };
      const opened = await board.fetch(new Request("http://localhost:4680/ops/api/login", login));
      headers.cookie = opened.headers.get("set-cookie")!.split(";")[0]!;
    }
    const page = await openPageOf(board, headers);
    const { structures } = await json<{ structures: { id: string; kind: string; name: string; actions: string[] }[] }>(
      get(board, "api/overview", headers),
    );
    const entry = structures.find((each) => each.kind === kind && each.name === name)!;
    const query = { id: entry.id, action, target };
    return {
      board,
      page: { ...page, cookie: [headers.cookie, page.cookie].filter(Boolean).join("; ") },
      entry,
      query,
      effect,
    };
  }

  test("is refused and not offered without allowActions", async () => {
    const { page, entry, query, effect } = await made({ allowActions: false });
    expect(entry.actions).toEqual([]);
    const response = await act(page, query);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("allows no actions");
    expect(await effect()).toEqual(before);
  });

  test("is refused from elsewhere, and is done, seen and listed from the page", async () => {
    const { board, page, entry, query, effect } = await made({ allowActions: true, token: TOKEN });
    expect(entry.actions).toContain(action);
    const refused: [number, Record<string, string>][] = [
      [401, { cookie: page.cookie.split("; ")[1]! }], // without the session that the token opens
      [403, { "x-oriel-form": "" }],
      [403, { "x-oriel-form": "0".repeat(32) }],
      [403, { cookie: page.cookie.split("; ")[0]! }],
      [403, { origin: "http://evil.example" }],
      [403, { "sec-fetch-site": "cross-site" }],
    ];
    for (const [status, headers] of refused)
      expect([headers, (await act(page, query, headers)).status]).toEqual([headers, status]);
    const url = `http://localhost:4680/ops/api/action?${new URLSearchParams(query)}`;
    expect((await board.fetch(new Request(url, { headers: { cookie: page.cookie } }))).status).toBe(405);
    expect(await effect()).toEqual(before);
    const done = await act(page, query);
    expect([done.status, Object.keys(await json<object>(done))]).toEqual([200, ["target"]]);
    expect(await effect()).toEqual(after);
    const list = await json<AuditEntry[]>(get(board, "api/audit", { cookie: page.cookie }));
    expect(list.filter((each) => each.kind === kind && each.name === entry.name)).toMatchObject([
      { kind, action, target: query.target, by: "ada" },
    ]);
  });
});
