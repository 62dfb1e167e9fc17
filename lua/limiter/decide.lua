#!lua
-- Asks all policies of one id, or of several limiters in one slot, and takes from all of them or from none.
-- One atomic step: it checks all policies, then changes all states and expiries.
-- KEYS  one per policy · for each limiter with reservations, its reservations · for a request with an id (and for a reset),
--         the generation of requests · the request
-- ARGV  REQUEST, with a MODE and REQUEST_FLAGs. `calls`: a group of equal calls. `amount`: the fewest permits of a partial
--         call (block: ms; reserve: the lease, ms)
--       per policy, RULE, with a KIND and RULE_FLAGs
-- Reply REPLY, with a STATUS. `granted`: calls. `permits`: of each granted call; status outside: the time. `blocked`: ms left
--         of the block
--       per policy, POLICY_REPLY. `passes`: calls that it allows. `reserved`: permits. `used`: permits (leaky bucket, GCRA:
--         the level). `wait`: ms until another such call passes it. `reset`: ms until all permits are free.
--         `end minute`: the end of a calendar window, in minutes since 1970
-- Law   A group of equal calls is decided as if one call came after the other, so the first ones pass. A denied call changes
--       no byte. Shadow policies deny no call, and are charged for the calls that they would allow.
--       A granted request with an id gets the same reply for a minute. Another request with this id is a MISMATCH. It is
--       decided again after a reset and while the id is blocked. A repeated settle or release counts once.
--       The next call restores a missing expiry. Foreign bytes are CORRUPT, and stay until a reset.
-- Cost  O(policies), a sliding window O(log limit), lent permits and reservations O(their number)
-- packed
-- @include limiter/state
-- @include limiter/fixed-window
-- @include limiter/calendar-window
-- @include limiter/sliding-window
-- @include limiter/leaky-bucket
-- @include limiter/concurrency
-- @include limiter/reservations
-- @include limiter/repeated-requests

local function answer_of(status, granted, permits, blocked, policies, now)
  local parts = { struct.pack(REPLY, status, granted, permits, blocked) }
  for i = 1, #policies do
    local p = policies[i]
    local held = p.held and p.held.sum or 0
    parts[i + 1] = struct.pack(POLICY_REPLY, p.passes, p.calendar > 0 and p.ends / 60000 or 0, held, p.used, p.wait, kinds[p.kind].reset(p, now))
  end
  return table.concat(parts)
end

local function unanswered(status, count, now)
  return struct.pack(REPLY, status, 0, now or 0, 0) .. string.rep("\0", count * POLICY_REPLY_BYTES)
end

-- Reads the states. Returns nil and a status if an id has reservations and KEYS lacks their key, or if a calendar window does
-- not hold the time.
local function look_at(k, a, now, count)
  local policies, blocked, held, next_holds = {}, 0, nil, k + count
  for i = 1, count do
    local kind, rule_flags, calendar, cost, limit, span, rate =
      struct.unpack(RULE, inputs, a + REQUEST_BYTES + (i - 1) * RULE_BYTES)
    local p = { key = KEYS[k + i - 1], kind = kind, cost = cost, limit = limit, span = span, rate = rate,
      calendar = calendar, is_shadow = rule_flags % (2 * RULE_FLAG_SHADOW) >= RULE_FLAG_SHADOW,
      is_aligned = rule_flags % (2 * RULE_FLAG_ALIGNED) >= RULE_FLAG_ALIGNED,
      is_head = rule_flags % (2 * RULE_FLAG_HEAD) >= RULE_FLAG_HEAD, passes = 0, wait = 0,
      there = false, blocked = 0, holds = 0, held = nil, used = 0, free = 0, start = 0, ends = 0, at = 0, level = 0 }
    if kinds[kind].look(p, now) then return nil, STATUS_OUTSIDE end
    if p.is_head then
      blocked = math.max(blocked, p.blocked - now)
      held = nil
      if rule_flags >= RULE_FLAG_RESERVATIONS then
        held = holds_of(KEYS[next_holds], now)
        next_holds = next_holds + 1
      elseif p.holds > now then
        return nil, STATUS_RESERVATIONS_NEEDED
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
  local refused = mode == MODE_TAKE and granted > 0 and without_room(policies)
  if refused then return granted, refused end
  for i = 1, #policies do
    local p = policies[i]
    local taken = math.min(granted, p.passes)
    if mode == MODE_TAKE and taken > 0 and p.cost > 0 then
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
  if not at then return STATUS_NOT_RESERVED end
  local hold = p.held.all[at]
  if hold.permits < 0 then return STATUS_SETTLED end
  if hold.expires > now then p.held.sum = p.held.sum - hold.permits end
  hold.permits, hold.expires = -1, math.min(hold.expires, now + SETTLED_LIFE_MS - SETTLE_GRACE_MS)
  forget_settled(p.held, MAX_SETTLED)
  write_holds(p.held)
  return STATUS_DECIDED
end

-- Modes that change a state without a decision. Returns their status.
local function change(policies, mode, amount, token, now)
  local status = STATUS_DECIDED
  if mode == MODE_SETTLE then
    status = settled(policies[1], token, now)
    if status ~= STATUS_DECIDED then return status end
  end
  for i = 1, #policies do
    local p = policies[i]
    local kind = kinds[p.kind]
    if mode == MODE_ADD or mode == MODE_SETTLE then
      if p.kind ~= KIND_CONCURRENCY and p.cost > 0 then kind.put(p, 1, p.cost, now, token) end
    elseif mode == MODE_GIVE_BACK then
      kind.back(p, p.cost, now)
    elseif mode == MODE_BLOCK then
      if p.is_head then
        p.blocked = amount > 0 and now + amount or 0
        kind.write(p, now)
      end
    elseif mode == MODE_RELEASE and p.kind == KIND_CONCURRENCY then
      kind.release(p, token, now)
    end
  end
  return status
end

-- The last parsed input. Calls of one request usually have the same one.
local read_from, read_at, read_bytes
-- The head of the last reply on the fast path.
local told_passes, told_cost, told
local mode, flags, calls, amount, kind, is_aligned, cost, limit, span, rate, count, is_quick

local function read_input(a)
  local rule_flags
  mode, flags, calls, amount, kind, rule_flags, cost, limit, span, rate = struct.unpack(ONE_RULE_REQUEST, inputs, a)
  count = (input_bytes - REQUEST_BYTES) / RULE_BYTES
  is_aligned = rule_flags % (2 * RULE_FLAG_ALIGNED) >= RULE_FLAG_ALIGNED
  is_quick = count == 1 and mode == MODE_TAKE and flags == 0 and kind ~= KIND_CONCURRENCY and cost > 0
    and rule_flags % (2 * RULE_FLAG_SHADOW) < RULE_FLAG_SHADOW and rule_flags < RULE_FLAG_RESERVATIONS
  read_from, read_at, read_bytes = inputs, a, input_bytes
end

local function step(k, a, now)
  if read_at ~= a or read_from ~= inputs or read_bytes ~= input_bytes then read_input(a) end
  if is_quick then
    local passes, used, wait, ends = kinds[kind].quick(KEYS[k], calls, cost, limit, span, rate, is_aligned, now)
    if passes then
      if passes ~= told_passes or cost ~= told_cost then
        told_passes, told_cost = passes, cost
        told = struct.pack(REPLY_START, STATUS_DECIDED, passes, cost, 0, passes, 0, 0)
      end
      return told .. struct.pack(REPLY_REST, used, wait, ends)
    end
  end
  may_have_written = false
  local token = string.sub(inputs, a + REQUEST_TOKEN_AT, a + (REQUEST_BYTES - 1))
  local question = flags >= REQUEST_FLAG_HAS_ID and question_of(a, count)
  if question then
    local answer = answered(k, question, now)
    if answer then return answer end
  end
  if mode == MODE_RESET then
    for i = k, k + keys_per_step - 1 do redis.call("DEL", KEYS[i]) end
    return unanswered(STATUS_DECIDED, count)
  end
  local policies, blocked = look_at(k, a, now, count)
  if not policies then return unanswered(blocked, count, blocked == STATUS_OUTSIDE and now) end
  may_have_written = true

  local status, granted, refused = STATUS_DECIDED, 0, nil
  if mode == MODE_TAKE or mode == MODE_PEEK or mode == MODE_RESERVE then
    local is_partial = flags % (2 * REQUEST_FLAG_PARTIAL) >= REQUEST_FLAG_PARTIAL
    local is_repeated = mode == MODE_RESERVE and find(policies[1].held.all, token)
    if is_repeated then granted = 1
    else granted, refused = decide(policies, blocked, mode, is_partial, calls, amount, token, now) end
    if mode == MODE_RESERVE and granted > 0 and not is_repeated then refused = reserved(policies[1], amount, token, now) end
    if refused then return refused end
  else
    refused = (mode == MODE_ADD or mode == MODE_SETTLE) and without_room(policies)
    if refused then return refused end
    status = change(policies, mode, amount, token, now)
    if status ~= STATUS_DECIDED then return unanswered(status, count) end
    blocked = mode == MODE_BLOCK and amount or blocked
  end
  local answer = answer_of(status, granted, policies[1].cost, blocked, policies, now)
  if question and granted > 0 then remember(k, question, answer, token, now) end
  return answer
end
