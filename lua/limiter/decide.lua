#!lua
-- Asks all policies of one id, or of several limiters in one slot, and takes from all of them or from none.
-- One atomic step: it checks all policies, then changes all states and expiries.
-- KEYS  one per policy · for each limiter with reservations, its reservations · for a request with an id (and for a reset),
--         the generation of requests · the request
-- ARGV  head, 32 bytes: u8 mode (0 take, 1 peek, 2 add, 3 give back, 4 block, 5 reset, 6 reserve, 7 settle, 8 release) ·
--         u8 flags (1 partial, 2 request) · 2 zero · u32 calls · f64 at least, permits (block: ms; reserve: lease, ms) ·
--         16 bytes token
--       per policy, 40 bytes: u8 kind · u8 flags (1 shadow, 2 aligned, 4 first of its limiter, 8 its reservations are in KEYS) ·
--         6 zero · f64 cost · f64 limit · f64 span, ms · f64 rate
-- Reply head, 24 bytes: u8 status (0 decided, 1 reservations are needed, 2 not reserved, 3 settled before) · 3 zero · u32 calls
--         granted · f64 permits of each granted call · f64 ms left of the block
--       per policy, 40 bytes: u32 calls that it allows · 4 zero · f64 permits reserved · f64 used (leaky bucket, GCRA:
--         level) · f64 ms until another such call passes it · f64 ms until all permits are free
-- Law   A group of equal calls is decided as if one call came after the other, so the first ones pass. A denied call changes
--       no byte. Shadow policies deny no call, and are charged for the calls that they would allow.
--       A granted request with an id gets the same reply for a minute. Another request with this id is a MISMATCH. It is
--       decided again after a reset and while the id is blocked. A repeated settle or release counts once.
--       The next call restores a missing expiry. Foreign bytes are CORRUPT, and stay until a reset.
-- Cost  O(policies), a sliding window O(log limit), lent permits and reservations O(their number)
-- packed
-- @include limiter/state
-- @include limiter/fixed-window
-- @include limiter/sliding-window
-- @include limiter/leaky-bucket
-- @include limiter/concurrency
-- @include limiter/reservations
-- @include limiter/repeated-requests
local HEAD_BYTES_IN, POLICY_BYTES, HEAD_BYTES_OUT, POLICY_BYTES_OUT = 32, 40, 24, 40
local TAKE, PEEK, ADD, GIVE_BACK, BLOCK, RESET, RESERVE, SETTLE, RELEASE = 0, 1, 2, 3, 4, 5, 6, 7, 8

local function answer_of(status, granted, permits, blocked, policies, now)
  local parts = { struct.pack("<I4I4dd", status, granted, permits, blocked) }
  for i = 1, #policies do
    local p = policies[i]
    local held = p.held and p.held.sum or 0
    parts[i + 1] = struct.pack("<I4I4dddd", p.passes, 0, held, p.used, p.wait, kinds[p.kind].reset(p, now))
  end
  return table.concat(parts)
end

local function unanswered(status, count)
  return struct.pack("<I4I4dd", status, 0, 0, 0) .. string.rep("\0", count * POLICY_BYTES_OUT)
end

-- Reads the states. Returns nil if an id has reservations and KEYS lacks their key.
local function look_at(k, a, now, count)
  local policies, blocked, held, next_holds = {}, 0, nil, k + count
  for i = 1, count do
    local kind, flags, cost, limit, span, rate =
      struct.unpack("<BBxxxxxxdddd", inputs, a + HEAD_BYTES_IN + (i - 1) * POLICY_BYTES)
    local p = { key = KEYS[k + i - 1], kind = kind, cost = cost, limit = limit, span = span, rate = rate,
      is_shadow = flags % 2 == 1, is_aligned = flags % 4 > 1, is_head = flags % 8 > 3, passes = 0, wait = 0,
      there = false, blocked = 0, holds = 0, held = nil, used = 0, free = 0, start = 0, ends = 0, at = 0, level = 0 }
    kinds[kind].look(p, now)
    if p.is_head then
      blocked = math.max(blocked, p.blocked - now)
      held = nil
      if flags > 7 then
        held = holds_of(KEYS[next_holds], now)
        next_holds = next_holds + 1
      elseif p.holds > now then
        return
      end
    end
    p.held = held
    policies[i] = p
  end
  return policies, blocked
end

-- Counts the calls that each policy allows, and those that all policies allow.
local function count_passes(policies, calls, blocked)
  local granted = blocked > 0 and 0 or calls
  for i = 1, #policies do
    local p = policies[i]
    local free = p.free - (p.held and p.held.sum or 0)
    p.passes = p.cost == 0 and calls or math.max(0, math.min(calls, math.floor(free / p.cost)))
    if not p.is_shadow then granted = math.min(granted, p.passes) end
  end
  return granted
end

-- A partial call takes the free permits, at least `at_least`, and waits only for that number.
local function settle_for_less(policies, at_least)
  local permits = policies[1].cost
  for i = 1, #policies do
    local p = policies[i]
    if not p.is_shadow then permits = math.min(permits, p.free - (p.held and p.held.sum or 0)) end
  end
  permits = math.max(permits, at_least)
  for i = 1, #policies do policies[i].cost = permits end
end

-- Written keys have their expiry. The others get back an expiry that they may have lost.
local function heal(policies, now)
  for i = 1, #policies do
    local p = policies[i]
    if p.there and not p.is_written and redis.call("PTTL", p.key) == -1 then
      local ends = p.longest and p.newest + p.longest or now + kinds[p.kind].reset(p, now)
      redis.call("PEXPIREAT", p.key, whole(math.max(ends, p.blocked, p.holds)))
    end
    if p.is_head and p.held and redis.call("PTTL", p.held.key) == -1 then write_holds(p.held) end
  end
end

-- The refusal if a state has no room, before the first write.
local function without_room(policies)
  for i = 1, #policies do
    if policies[i].is_full and policies[i].cost > 0 then
      return refuse("OVERLOADED", "the sliding window is full: it has " .. MAX_RECORDS .. " ms with permits, its maximum")
    end
  end
end

local function decide(policies, blocked, mode, is_partial, calls, at_least, token, now)
  if is_partial then settle_for_less(policies, at_least) end
  local granted = count_passes(policies, calls, blocked)
  local refused = mode == TAKE and granted > 0 and without_room(policies)
  if refused then return granted, refused end
  for i = 1, #policies do
    local p = policies[i]
    local taken = math.min(granted, p.passes)
    if mode == TAKE and taken > 0 and p.cost > 0 then
      kinds[p.kind].put(p, taken, p.cost, now, token)
      p.free, p.is_written = p.free - taken * p.cost, true
    end
    if p.passes < calls and p.passes <= granted then p.wait = wait_of(p, p.cost, now) end
  end
  heal(policies, now)
  return granted
end

-- Writes the reservations of a limiter and its first policy after a reserve. The state then requires their key.
local function reserved(p, lease, token, now)
  local holds = p.held
  if #holds.all >= MAX_RESERVATIONS and not forget_settled(holds, 0) then
    return refuse("OVERLOADED", "the id has " .. MAX_RESERVATIONS .. " open reservations, its maximum")
  end
  holds.all[#holds.all + 1] = { token = token, expires = now + lease, permits = p.cost }
  holds.sum = holds.sum + p.cost
  p.holds = math.max(p.holds, write_holds(holds))
  kinds[p.kind].write(p, now)
end

local function settled(p, token, now)
  local at = find(p.held.all, token)
  if not at then return 2 end
  local hold = p.held.all[at]
  if hold.permits < 0 then return 3 end
  if hold.expires > now then p.held.sum = p.held.sum - hold.permits end
  hold.permits, hold.expires = -1, math.min(hold.expires, now + SETTLED_LIFE_MS - SETTLE_GRACE_MS)
  forget_settled(p.held, MAX_SETTLED)
  write_holds(p.held)
  return 0
end

-- Modes that change a state without a decision. Returns their status.
local function change(policies, mode, amount, token, now)
  local status = 0
  if mode == SETTLE then
    status = settled(policies[1], token, now)
    if status > 0 then return status end
  end
  for i = 1, #policies do
    local p = policies[i]
    local kind = kinds[p.kind]
    if mode == ADD or mode == SETTLE then
      if p.kind ~= 4 and p.cost > 0 then kind.put(p, 1, p.cost, now, token) end
    elseif mode == GIVE_BACK then
      kind.back(p, p.cost, now)
    elseif mode == BLOCK then
      if p.is_head then
        p.blocked = amount > 0 and now + amount or 0
        kind.write(p, now)
      end
    elseif mode == RELEASE and p.kind == 4 then
      kind.release(p, token, now)
    end
  end
  return status
end

-- The last parsed input. Calls of one request usually have the same one.
local read_from, read_at, read_bytes
-- The head of the last reply on the fast path.
local told_passes, told_cost, told
local mode, flags, calls, at_least, kind, is_aligned, cost, limit, span, rate, count, is_quick

local function read_input(a)
  local policy_flags
  mode, flags, calls, at_least, kind, policy_flags, cost, limit, span, rate =
    struct.unpack("<BBxxI4dxxxxxxxxxxxxxxxxBBxxxxxxdddd", inputs, a)
  count, is_aligned = (input_bytes - HEAD_BYTES_IN) / POLICY_BYTES, policy_flags % 4 > 1
  is_quick = count == 1 and mode == TAKE and flags == 0 and kind ~= 4 and cost > 0
    and policy_flags % 2 == 0 and policy_flags < 8
  read_from, read_at, read_bytes = inputs, a, input_bytes
end

local function step(k, a, now)
  if read_at ~= a or read_from ~= inputs or read_bytes ~= input_bytes then read_input(a) end
  if is_quick then
    local passes, used, wait, ends = kinds[kind].quick(KEYS[k], calls, cost, limit, span, rate, is_aligned, now)
    if passes then
      if passes ~= told_passes or cost ~= told_cost then
        told_passes, told_cost = passes, cost
        told = struct.pack("<I4I4ddI4I4d", 0, passes, cost, 0, passes, 0, 0)
      end
      return told .. struct.pack("<ddd", used, wait, ends)
    end
  end
  may_have_written = false
  local token = string.sub(inputs, a + 16, a + 31)
  local question = flags > 1 and question_of(a, count)
  if question then
    local answer = answered(k, question, now)
    if answer then return answer end
  end
  if mode == RESET then
    for i = k, k + keys_per_step - 1 do redis.call("DEL", KEYS[i]) end
    return unanswered(0, count)
  end
  local policies, blocked = look_at(k, a, now, count)
  if not policies then return unanswered(1, count) end
  may_have_written = true

  local status, granted, refused = 0, 0, nil
  if mode == TAKE or mode == PEEK or mode == RESERVE then
    local is_repeated = mode == RESERVE and find(policies[1].held.all, token)
    if is_repeated then granted = 1
    else granted, refused = decide(policies, blocked, mode, flags % 2 == 1, calls, at_least, token, now) end
    if mode == RESERVE and granted > 0 and not is_repeated then refused = reserved(policies[1], at_least, token, now) end
    if refused then return refused end
  else
    refused = (mode == ADD or mode == SETTLE) and without_room(policies)
    if refused then return refused end
    status = change(policies, mode, at_least, token, now)
    if status > 0 then return unanswered(status, count) end
    blocked = mode == BLOCK and at_least or blocked
  end
  local answer = answer_of(status, granted, policies[1].cost, blocked, policies, now)
  if question and granted > 0 then remember(k, question, answer, token, now) end
  return answer
end
