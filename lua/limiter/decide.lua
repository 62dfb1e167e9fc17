#!lua
-- Asks all policies of one id, or of several limiters in one slot, and takes from all of them or from none.
-- One atomic step: it checks all policies, then changes all states and expiries.
-- KEYS  one per policy · for each limiter with reservations, its reservations · for a request with an id (and for a reset),
--         the generation of requests · the request
-- ARGV  REQUEST, with a MODE and REQUEST_FLAGs. `calls`: a group of equal calls. `amount`: the fewest permits of a partial
--         call (block: ms; reserve, charge: the lease, ms)
--       per policy, RULE, with a KIND and RULE_FLAGs. `cost`, charge and settle: all permits of the reservation so far
-- Reply REPLY, with a STATUS. `granted`: calls. `permits`: of each granted call; status outside: the time. `blocked`: ms left
--         of the block
--       per policy, POLICY_REPLY. `passes`: calls that it allows (charge, settle: permits charged so far). `reserved`: permits.
--         `used`: permits (leaky bucket, GCRA: the level). `wait`: ms until another such call passes it. `reset`: ms until all permits are free.
--         `end minute`: when all permits of a calendar window have ended, in minutes since 1970
-- Law   A group of equal calls is decided as if one call came after the other, so the first ones pass. A denied call changes
--       no byte. Shadow policies deny no call, and are charged for the calls that they would allow.
--       A granted request with an id gets the same reply for a minute. Another request with this id is a MISMATCH. It is
--       decided again after a reset and while the id is blocked. A repeated charge, settle or release counts once.
--       Reservations that are charged at their end come first: each is charged as of the end of its lease, in this order.
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
    parts[i + 1] = struct.pack(POLICY_REPLY, p.passes, p.calendar > 0 and p.ends / 60000 or 0, reserved_of(p), p.used, p.wait, kinds[p.kind].reset(p, now))
  end
  return table.concat(parts)
end

local function unanswered(status, count, now)
  return struct.pack(REPLY, status, 0, now or 0, 0) .. string.rep("\0", count * POLICY_REPLY_BYTES)
end

-- Reads the states. Returns nil and a status if an id has reservations and KEYS lacks their key, or if a calendar window does
-- not hold the time.
local function look_at(k, a, now, count)
  local policies, blocked, head, next_holds = {}, 0, nil, k + count
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
      head = p
      p.size, p.has_holds = 0, rule_flags >= RULE_FLAG_RESERVATIONS
      if not p.has_holds and p.holds > now then return nil, STATUS_RESERVATIONS_NEEDED end
    end
    head.size = head.size + 1
    p.head, p.place = head, head.size
    policies[i] = p
  end
  for i = 1, count do
    local p = policies[i]
    if p.has_holds then
      p.held = holds_of(KEYS[next_holds], p.size, now)
      next_holds = next_holds + 1
    end
    p.held = p.head.held
  end
  return policies, blocked
end

-- Counts the calls that each policy allows, and those that all policies allow.
local function count_passes(policies, calls, blocked)
  local granted = blocked > 0 and 0 or calls
  for i = 1, #policies do
    local p = policies[i]
    local free = p.free - reserved_of(p)
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
    if not p.is_shadow then permits = math.min(permits, p.free - reserved_of(p)) end
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
    if p.is_head and p.held and redis.call("PTTL", p.held.key) == -1 then write_holds(p.held, (last_end(policies, i, now))) end
  end
end

local function full_window()
  return refuse("OVERLOADED", "the sliding window is full: it has " .. MAX_RECORDS .. " ms with permits, its maximum")
end

-- The refusal if a state has no room, before the first write.
local function without_room(policies)
  for i = 1, #policies do
    if policies[i].is_full and policies[i].cost > 0 then return full_window() end
  end
end

-- Charges permits as of the end of a lease. Those of a calendar window that is over have no effect.
local function charge_at(p, permits, ends, now, token)
  local is_calendar = p.kind == KIND_CALENDAR
  kinds[p.kind].look(p, is_calendar and now or ends)
  if not is_calendar or ends >= p.start then kinds[p.kind].put(p, 1, permits, now, token) end
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
  if mode == MODE_TAKE and granted > 0 then keep_reservations(policies, now) end
  return granted
end

-- Whether a window lacks room for what ended reservations owe. Otherwise charges each as of the end of its lease. If the first
-- policy no longer requires them, that has no effect any more, and other steps may have taken permits since.
local function charge_ended(policies, is_check, now)
  local is_any = false
  for head = 1, #policies do
    local held = policies[head].is_head and policies[head].held
    local has_effect = policies[head].holds > now
    for i = 1, held and #held.owed or 0 do
      local hold = held.owed[i]
      for place = 1, held.count do
        local p, rest = policies[head + place - 1], rest_of(hold, place)
        if is_check then is_any = is_any or rest > 0 and has_effect and p.is_full
        elseif rest > 0 and has_effect and p.kind ~= KIND_CONCURRENCY then charge_at(p, rest, hold.expires, now, hold.token) end
        if not is_check then hold.charged[place], is_any = hold.charged[place] + rest, true end
      end
    end
    if not is_check and held and #held.owed > 0 then write_holds(held, (last_end(policies, head, now))) end
  end
  return is_any
end

-- Writes the reservation of each limiter.
local function reserve(policies, lease, is_charged, token, now)
  for i = 1, #policies do
    local p = policies[i]
    if p.is_head and #p.held.all >= MAX_RESERVATIONS and not forget_settled(p.held, 0) then
      return refuse("OVERLOADED", "the id has " .. MAX_RESERVATIONS .. " open reservations, its maximum")
    end
  end
  for head = 1, #policies do
    local held = policies[head].is_head and policies[head].held
    if held then
      local hold = new_hold(token, now + lease, false, is_charged)
      for place = 1, held.count do hold.reserved[place], hold.charged[place] = policies[head + place - 1].cost, 0 end
      held.all[#held.all + 1] = hold
      write_reservations(policies, head, now)
    end
  end
end

-- Whether a reservation is open under some limiter, was settled, or is unknown.
local function find_reservation(policies, token)
  local status = STATUS_NOT_RESERVED
  for i = 1, #policies do
    local hold = find(policies[i].held.all, token)
    if hold and not hold.is_settled then return STATUS_DECIDED end
    if hold then status = STATUS_SETTLED end
  end
  return status
end

-- Makes the cost of each policy that of a charge or settlement: the permits so far, less those that were charged before.
local function lower_costs(policies, token)
  for i = 1, #policies do
    local p = policies[i]
    local hold = p.kind ~= KIND_CONCURRENCY and find(p.held.all, token)
    local charged = hold and hold.charged[p.place] or 0
    p.cost = hold and not hold.is_settled and math.max(0, p.cost - charged) or 0
    p.passes = charged + p.cost
  end
end

-- Puts a charge or settlement into the reservation of each limiter. Permits of a concurrency policy stay set aside until it is settled.
local function write_charge(policies, is_settled, lease, token, now)
  for head = 1, #policies do
    local held = policies[head].is_head and policies[head].held
    local hold = held and find(held.all, token)
    if hold and not hold.is_settled then
      for place = 1, held.count do
        local p = policies[head + place - 1]
        hold.charged[place] = p.kind ~= KIND_CONCURRENCY and hold.charged[place] + p.cost or 0
      end
      hold.is_settled = is_settled
      if is_settled then hold.expires = math.min(hold.expires, now + SETTLED_LIFE_MS - SETTLE_GRACE_MS)
      -- Another call may have what an ended one had set aside.
      elseif hold.expires > now then hold.expires = now + lease end
      if is_settled then forget_settled(held, MAX_SETTLED) end
      write_reservations(policies, head, now)
    end
  end
end

-- Modes that change a state without a decision.
local function change(policies, mode, amount, token, now)
  local is_charge = mode == MODE_SETTLE or mode == MODE_CHARGE
  for i = 1, #policies do
    local p = policies[i]
    local kind = kinds[p.kind]
    if mode == MODE_ADD or is_charge then
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
  if is_charge then write_charge(policies, mode == MODE_SETTLE, amount, token, now) else keep_reservations(policies, now) end
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
  local question = flags % (2 * REQUEST_FLAG_HAS_ID) >= REQUEST_FLAG_HAS_ID and question_of(a, count)
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
  if charge_ended(policies, true, now) then return full_window() end
  if charge_ended(policies, false, now) then policies, blocked = look_at(k, a, now, count) end

  local status, granted, refused = STATUS_DECIDED, 0, nil
  local is_charge = mode == MODE_SETTLE or mode == MODE_CHARGE
  if mode == MODE_TAKE or mode == MODE_PEEK or mode == MODE_RESERVE then
    local is_partial = flags % (2 * REQUEST_FLAG_PARTIAL) >= REQUEST_FLAG_PARTIAL
    if mode == MODE_RESERVE and find_reservation(policies, token) ~= STATUS_NOT_RESERVED then
      granted = 1
      for i = 1, #policies do policies[i].passes = 1 end
    else
      granted, refused = decide(policies, blocked, mode, is_partial, calls, amount, token, now)
      if mode == MODE_RESERVE and granted > 0 then
        refused = reserve(policies, amount, flags >= REQUEST_FLAG_CHARGED_AT_END, token, now)
      end
    end
    if refused then return refused end
  else
    if is_charge then
      status = find_reservation(policies, token)
      lower_costs(policies, token)
    end
    if status == STATUS_NOT_RESERVED then return unanswered(status, count) end
    refused = (mode == MODE_ADD or is_charge) and without_room(policies)
    if refused then return refused end
    if status == STATUS_DECIDED then change(policies, mode, amount, token, now) end
    blocked = mode == MODE_BLOCK and amount or blocked
  end
  local answer = answer_of(status, granted, is_charge and 0 or policies[1].cost, blocked, policies, now)
  if question and granted > 0 then remember(k, question, answer, token, now) end
  return answer
end
