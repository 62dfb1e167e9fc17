import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Reply, RespConnection } from "../network/resp-connection.ts";
import { KeyLocking } from "./key-locking.ts";

export type Command = string[];

/** What befalls a request. */
export type Fault =
  /** Answered so, and nothing is run. */
  | { status: number; headers?: Record<string, string>; body?: string }
  /** The connection is cut instead of an answer. */
  | { cut: "before it is run" | "after it was run" }
  /** It is run, and this is the answer. */
  | { answer: string }
  /** It is run when the promise resolves. */
  | { hold: Promise<unknown> };

export interface RestServer {
  readonly url: string;
  readonly token: string;
  /** The commands of each request that came, and what it was asked for. */
  /** If it is Upstash's own: what its scripts have locked. */
  readonly locked: { keys: number; all: number };
  readonly requests: { path: string; commands: Command[]; bytes: number; isAborted(): boolean }[];
  /** Asked for each request that may pass; set to undefined for none. */
  faultOf: ((commands: Command[]) => Fault | undefined) | undefined;
  stop(): Promise<void>;
}

/** Browsers ask first whether a page of another origin may ask. */
const FROM_ANYWHERE = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*, Authorization" };

/**
 * The REST protocol of Upstash Redis, as it is published, in front of a real Redis: one command at "/", several at
 * "/pipeline" and, all or none, at "/multi-exec"; errors as { error }, with 400 where it is the only command. With
 * `isUpstash` scripts may have Upstash's flag, which other servers refuse.
 */
export async function startRest(
  redisUrl: string,
  token = "rest-token",
  port = 0,
  isUpstash = false,
): Promise<RestServer> {
  const redis = new RespConnection(redisUrl);
  const locking = new KeyLocking();
  const requests: RestServer["requests"] = [];
  const rest = { faultOf: undefined as RestServer["faultOf"] };

  const run = async (
    path: string,
    commands: Command[],
    isEncoded: boolean,
  ): Promise<[status: number, answer: unknown]> => {
    const shown = (reply: Reply) => resultOf(reply, isEncoded);
    if (isUpstash) {
      const through = commands.map((words) => locking.through(words, path === "/multi-exec"));
      const [status, answer] = await answerOf(
        path,
        through.map(({ words }) => words),
        shown,
      );
      const answers = Array.isArray(answer) ? answer : [answer];
      for (const [i, { answered }] of through.entries()) answered(!/^NOSCRIPT/.test(answers[i]?.error ?? ""));
      return [status, answer];
    }
    return answerOf(path, commands, shown);
  };
  const answerOf = async (
    path: string,
    commands: Command[],
    shown: (reply: Reply) => ReturnType<typeof resultOf>,
  ): Promise<[status: number, answer: unknown]> => {
    if (path === "/multi-exec") {
      const replies = (await redis.send([["MULTI"], ...commands, ["EXEC"]])).at(-1)!;
      return Array.isArray(replies) ? [200, replies.map(shown)] : [400, shown(replies)];
    }
    const replies = await redis.send(commands);
    if (path === "/pipeline") return [200, replies.map(shown)];
    const answer = shown(replies[0]!);
    return ["error" in answer ? 400 : 200, answer];
  };

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const answer = (status: number, body: unknown, headers: Record<string, string> = {}) => {
      response.writeHead(status, { "Content-Type": "application/json", ...FROM_ANYWHERE, ...headers });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    };
    if (request.method === "OPTIONS") return answer(200, "");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const path = request.url ?? "/";
    if (request.method !== "POST" || !["/", "/pipeline", "/multi-exec"].includes(path))
      return answer(404, { error: "Not Found" });
    if (request.headers.authorization !== `Bearer ${token}`)
      return answer(401, { error: "WRONGPASS invalid or missing auth token" });
    const body = Buffer.concat(chunks);
    const commands = commandsOf(body, path === "/");
    if (!commands) return answer(400, { error: "ERR failed to parse the command" });
    requests.push({
      path,
      commands,
      bytes: body.length,
      isAborted: () => response.destroyed && !response.writableEnded,
    });

    const fault = rest.faultOf?.(commands);
    if (fault && "status" in fault) return answer(fault.status, fault.body ?? "", fault.headers);
    if (fault && "hold" in fault) await fault.hold;
    if (fault && "cut" in fault && fault.cut === "before it is run") return request.socket.destroy();
    const [status, ran] = await run(path, commands, request.headers["upstash-encoding"] === "base64");
    if (fault && "cut" in fault) return request.socket.destroy();
    answer(status, fault && "answer" in fault ? fault.answer : ran);
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => {
      if (!response.headersSent) response.writeHead(502).end();
    });
  });
  server.keepAliveTimeout = 0; // a test that stands still for 5 s would lose a reply
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return Object.assign(rest, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    requests,
    locked: locking.locked,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      redis.close();
    },
  });
}

/** Undefined where it is no JSON of the form that the path takes. */
function commandsOf(body: Buffer, isSingle: boolean): Command[] | undefined {
  try {
    const given: unknown = JSON.parse(body.toString());
    const commands = isSingle ? [given] : given;
    const isCommand = (command: unknown) =>
      Array.isArray(command) &&
      command.length > 0 &&
      command.every((word) => ["string", "number"].includes(typeof word));
    if (!Array.isArray(commands) || commands.length === 0 || !commands.every(isCommand)) return undefined;
    return commands.map((command: unknown[]) => command.map(String));
  } catch {
    return undefined;
  }
}

function resultOf(reply: Reply, isEncoded: boolean): { result: unknown } | { error: string } {
  if (reply !== null && typeof reply === "object" && "error" in reply) return { error: reply.error };
  return { result: shownAs(reply, isEncoded) };
}

/** Strings in base64 on request, except "OK". An error within an array is its text. */
function shownAs(reply: Reply, isEncoded: boolean): unknown {
  if (reply === null || typeof reply === "number") return reply;
  if (Array.isArray(reply)) return reply.map((part) => shownAs(part, isEncoded));
  if ("status" in reply && reply.status === "OK") return "OK";
  const bytes = "bulk" in reply ? reply.bulk : Buffer.from("status" in reply ? reply.status : reply.error);
  return bytes.toString(isEncoded ? "base64" : "utf8");
}
