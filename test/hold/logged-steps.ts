import { join } from "node:path";
import { composeScript, luaFolder } from "../../scripts/lua/compose-script.mjs";
import {
  HEAD_BYTES,
  HOLD_LENGTH,
  LOOKED_BYTES,
  PLACE_BYTES,
  PLACE_LEASE_MS_AT,
  PLACE_LENGTH,
  PLACE_LIMIT_AT,
  PLACE_PERMITS_AT,
} from "../../src/generated/layouts/hold.ts";
import type { State, Ticket } from "../../src/holds/steps/state.ts";
import { leave, look, renew, take } from "../../src/holds/steps/steps.ts";
import type { Operation, Script } from "../../src/store/contract.ts";

/** One step that the server has run, and the holds that it left. */
export interface LoggedStep {
  readonly operation: string;
  readonly key: string;
  readonly nowMs: number;
  /** The number of the process that sent it. */
  readonly sender: number;
  readonly input: { process: string; token: string; tickets: readonly Ticket[]; mayWait: boolean; leaseMs: number };
  readonly output: unknown;
  readonly state: State;
}

const ARITY = { [take.name]: 4, [leave.name]: 3, [renew.name]: 2 };

/** The scripts of holds, which write each step into the list "log" too. Their first argument is the number of the sender. */
export function loggedScripts(): Record<string, Script> {
  return Object.fromEntries(
    Object.entries(ARITY).map(([name, arity]) => [
      name,
      composeScript(join(luaFolder, `${name}.lua`), { "store/clock": logging(name, arity) }),
    ]),
  );
}

/** In the place of store/clock.lua: the server's own time, and a step that writes what it did. */
const logging = (name: string, arity: number) => `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local first_argument = 2
local unlogged = step
step = function(k, a, at)
  local reply = unlogged(k, a, at)
  local fields = { "${name}", KEYS[k], string.format("%.0f", at), ARGV[1], reply }
  local state = redis.call("GET", KEYS[k]) or ""
  local count = #state > 0 and struct.unpack("<I4", state, 4) or 0
  fields[6] = string.sub(state, 1, ${HEAD_BYTES} + count * ${HOLD_LENGTH})
  for i = 0, ${arity - 1} do fields[7 + i] = ARGV[a + i] end
  local text = ""
  for _, field in ipairs(fields) do text = text .. struct.pack("<I4", #field) .. field end
  redis.call("RPUSH", "log", text)
  return reply
end
`;

export function parseStep(logged: Buffer): LoggedStep {
  const fields: Buffer[] = [];
  for (let at = 0; at < logged.length; ) {
    const length = logged.readUInt32LE(at);
    fields.push(logged.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  const texts = fields.map((field) => field.toString("latin1"));
  const [operation = "", key = "", now, sender, , , first = "", second = "", third] = texts;
  const none = { process: "", token: "", tickets: [], mayWait: false, leaseMs: 0 };
  const inputs: Record<string, Partial<LoggedStep["input"]>> = {
    [take.name]: { process: first, mayWait: third === "1", tickets: ticketsOf(fields[9] ?? Buffer.alloc(0)) },
    [leave.name]: { process: first, token: second },
    [renew.name]: { token: first, leaseMs: Number(second) },
  };
  const state = Buffer.concat([Buffer.alloc(LOOKED_BYTES), fields[5]!]);
  return {
    operation,
    key,
    nowMs: Number(now),
    sender: Number(sender),
    input: { ...none, ...inputs[operation] },
    output:
      operation === renew.name
        ? decoded(renew, fields[4]!)
        : operation === take.name
          ? decoded(take, fields[4]!)
          : decoded(leave, fields[4]!),
    state: decoded(look, state),
  };
}

function decoded<Input, Output>(operation: Operation<Input, Output>, bytes: Buffer): Output {
  if (!("decode" in operation)) throw new Error(`${operation.name} is packed`);
  return operation.decode(new Uint8Array(bytes));
}

function ticketsOf(bytes: Buffer): Ticket[] {
  const tickets: Ticket[] = [];
  for (let at = 0; at < bytes.length; at += PLACE_LENGTH)
    tickets.push({
      token: bytes.toString("latin1", at + PLACE_BYTES, at + PLACE_LENGTH),
      permits: bytes.readUInt32LE(at + PLACE_PERMITS_AT),
      limit: bytes.readUInt32LE(at + PLACE_LIMIT_AT),
      leaseMs: bytes.readUInt32LE(at + PLACE_LEASE_MS_AT),
    });
  return tickets;
}
