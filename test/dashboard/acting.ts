import { expect } from "vitest";
import type { Dashboard } from "../../src/operate/dashboard/dashboard.ts";
import { type Answer, get, json } from "./scene.ts";

/** The page of a dashboard, as a browser has opened it. */
export interface OpenPage {
  board: Dashboard;
  cookie: string;
  form: string;
}

export async function openPageOf(board: Dashboard, headers: Record<string, string> = {}): Promise<OpenPage> {
  const response = await get(board, "api/overview", headers);
  const cookie = response.headers.get("set-cookie")!;
  expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/);
  return { board, cookie: cookie.split(";")[0]!, form: (await json<Answer>(response)).form };
}

/** As the page's own script sends it. */
export function act(
  { board, cookie, form }: OpenPage,
  query: Record<string, string>,
  headers: Record<string, string> = {},
) {
  const own = { cookie, "x-oriel-form": form, origin: "http://localhost:4680", "sec-fetch-site": "same-origin" };
  const kept = Object.entries({ ...own, ...headers }).filter(([, value]) => value !== "");
  const url = `http://localhost:4680/ops/api/action?${new URLSearchParams(query)}`;
  return board.fetch(new Request(url, { method: "POST", headers: Object.fromEntries(kept) }));
}
