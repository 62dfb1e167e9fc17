-- @include limiter/state
-- The reservations of one id under the policies of its limiter. A hold sets permits of each policy aside, of which some have
-- been charged. The rest counts against the policy until the lease ends. Then it is free or, with `is_charged`, is charged as
-- of that ms, by the next step that reads the id, before anything else.
-- A settled hold stays for a while, so that a second settle differs from a settle after the lease. A hold can be charged and settled
-- for a while after its lease, and sets nothing aside again.
-- Value: HOLDS, then for each hold, in order of arrival, HOLD and a SHARE for each policy.
local function rest_of(hold, place)
  return hold.is_settled and 0 or math.max(0, hold.reserved[place] - hold.charged[place])
end

-- Whether the end of the lease charges something.
local function owes(hold)
  if not hold.is_charged then return false end
  for place = 1, #hold.reserved do
    if rest_of(hold, place) > 0 then return true end
  end
  return false
end

local function new_hold(token, expires, is_settled, is_charged)
  return { token = token, expires = expires, is_settled = is_settled, is_charged = is_charged, reserved = {}, charged = {} }
end

local function holds_of_format_1(key, text, count)
  local all = {}
  for at = 1, #text, LEASE_BYTES do
    local expires, permits = struct.unpack(LEASE_TERM, text, at + LEASE_EXPIRE_AT_MS_AT)
    if not is_whole(expires) or permits ~= -1 and not is_whole(permits) then damaged(key, "it is not a list of reservations") end
    local hold = new_hold(string.sub(text, at, at + (LEASE_EXPIRE_AT_MS_AT - 1)), expires, permits < 0, false)
    for place = 1, count do hold.reserved[place], hold.charged[place] = math.max(0, permits), 0 end
    all[#all + 1] = hold
  end
  return all
end

local function holds_in(key, text, count)
  if #text % LEASE_BYTES == 0 then return holds_of_format_1(key, text, count) end
  local format = struct.unpack(HOLDS, text .. string.rep("\0", HOLDS_BYTES))
  local all, at = {}, HOLDS_BYTES + 1
  while at <= #text and format == HOLDS_FORMAT do
    if at + HOLD_BYTES > #text then break end
    local expires, hold_flags, shares = struct.unpack(HOLD_TERM, text, at + HOLD_EXPIRE_AT_MS_AT)
    local ends = at + HOLD_BYTES + shares * SHARE_BYTES
    if not is_whole(expires) or ends > #text + 1 then break end
    local hold = new_hold(string.sub(text, at, at + (HOLD_EXPIRE_AT_MS_AT - 1)), expires,
      hold_flags % (2 * HOLD_FLAG_SETTLED) >= HOLD_FLAG_SETTLED, hold_flags >= HOLD_FLAG_CHARGED_AT_END)
    for place = 1, count do
      local reserved, charged = 0, 0
      if place <= shares then
        reserved, charged = struct.unpack(SHARE, text, at + HOLD_BYTES + (place - 1) * SHARE_BYTES)
      end
      hold.reserved[place], hold.charged[place] = reserved, charged
    end
    all[#all + 1], at = hold, ends
  end
  if at ~= #text + 1 or format ~= HOLDS_FORMAT then damaged(key, "it is not a list of reservations") end
  return all
end

local function by_end(one, other)
  return one.expires < other.expires
end

-- Counts what is set aside now.
local function count_holds(holds, now)
  holds.live, holds.sums = {}, {}
  for place = 1, holds.count do holds.sums[place] = 0 end
  for i = 1, #holds.all do
    local hold = holds.all[i]
    if hold.expires > now and not hold.is_settled then
      holds.live[#holds.live + 1] = hold
      for place = 1, holds.count do holds.sums[place] = holds.sums[place] + rest_of(hold, place) end
    end
  end
  table.sort(holds.live, by_end)
end

-- `owed`: the ended ones that have still to be charged, in the order of their ends.
local function holds_of(key, count, now)
  local text = redis.pcall("GET", key) or ""
  if type(text) == "table" then damaged(key, text.err) end
  local holds, found = { key = key, count = count, all = {}, owed = {} }, holds_in(key, text, count)
  for i = 1, #found do
    local hold = found[i]
    local is_owed = owes(hold)
    if is_owed or hold.expires > now - SETTLE_GRACE_MS then holds.all[#holds.all + 1] = hold end
    if is_owed and hold.expires <= now then holds.owed[#holds.owed + 1] = hold end
  end
  table.sort(holds.owed, by_end)
  count_holds(holds, now)
  return holds
end

local function find(all, token)
  for i = 1, #all do
    if all[i].token == token then return all[i] end
  end
end

local function write_holds(holds, last)
  local parts = { struct.pack(HOLDS, HOLDS_FORMAT) }
  for i = 1, #holds.all do
    local hold = holds.all[i]
    local hold_flags = (hold.is_settled and HOLD_FLAG_SETTLED or 0) + (hold.is_charged and HOLD_FLAG_CHARGED_AT_END or 0)
    parts[#parts + 1] = hold.token .. struct.pack(HOLD_TERM, hold.expires, hold_flags, holds.count)
    for place = 1, holds.count do parts[#parts + 1] = struct.pack(SHARE, hold.reserved[place], hold.charged[place]) end
  end
  redis.call("SET", holds.key, table.concat(parts), "PXAT", whole(last + SETTLE_GRACE_MS))
end

-- Until when permits matter that are charged at `ends`. No calendar window is four days longer than the one before.
local function matters_until(p, permits, ends, now)
  if permits == 0 or p.kind == KIND_CONCURRENCY then return ends end
  if p.kind == KIND_CALENDAR then return ends + p.rate - p.span + 4 * ENDED_LIFE_MS end
  if p.kind ~= KIND_LEAKY then return ends + p.span end
  return math.max(ends, now + kinds[KIND_LEAKY].reset(p, now)) + math.ceil(permits * p.span / p.rate)
end

-- When the last reservation of the limiter with the first policy `head` ends, or what its end charges has no effect any more. Then
-- whether the end of one charges something.
local function last_end(policies, head, now)
  local holds, last, last_owed, owed = policies[head].held, 0, 0, {}
  for i = 1, #holds.all do
    local hold = holds.all[i]
    last = math.max(last, hold.expires)
    if owes(hold) then
      last_owed = math.max(last_owed, hold.expires)
      for place = 1, holds.count do owed[place] = (owed[place] or 0) + rest_of(hold, place) end
    end
  end
  for place = 1, last_owed > 0 and holds.count or 0 do
    last = math.max(last, matters_until(policies[head + place - 1], owed[place], last_owed, now))
  end
  return math.min(last, MAX_NUMBER), last_owed > 0
end

-- Writes reservations and the first policy of their limiter, whose state requires their key until the last one has ended, and while
-- a settled one is remembered. A later charge is added to each state as it was at the end, so all states are kept as long.
local function write_reservations(policies, head, now)
  local held = policies[head].held
  local last, is_owing = last_end(policies, head, now)
  local needed = last
  for i = 1, #held.all do
    if held.all[i].is_settled then needed = math.max(needed, held.all[i].expires + SETTLE_GRACE_MS) end
  end
  count_holds(held, now)
  write_holds(held, last)
  for place = 1, held.count do
    local p, holds = policies[head + place - 1], (place == 1 or is_owing) and needed > now and needed or 0
    if place == 1 or p.holds ~= holds then
      p.holds = holds
      kinds[p.kind].write(p, now)
    end
  end
end

-- Later charges may matter for longer after permits were taken from a bucket.
local function keep_reservations(policies, now)
  for i = 1, #policies do
    local p = policies[i]
    if p.is_head and p.held and last_end(policies, i, now) > p.holds then write_reservations(policies, i, now) end
  end
end

-- Drops the first settled one if there are more than `most`. Returns false if it drops none.
local function forget_settled(holds, most)
  local count, first = 0, nil
  for i = 1, #holds.all do
    if holds.all[i].is_settled then
      count, first = count + 1, first or i
    end
  end
  return count > most and table.remove(holds.all, first)
end

local function reserved_of(p)
  return p.held and p.held.sums[p.place] or 0
end

local function own_wait(p, permits, now)
  return permits <= p.free and 0 or kinds[p.kind].wait(p, permits, now)
end

-- The wait of one policy while permits are reserved. A reservation may end before the policy's own permits are free.
local function wait_of(p, permits, now)
  local holds, left = p.held, reserved_of(p)
  local least = own_wait(p, permits + left, now)
  for i = 1, holds and #holds.live or 0 do
    left = left - rest_of(holds.live[i], p.place)
    least = math.min(least, math.max(holds.live[i].expires - now, own_wait(p, permits + left, now)))
  end
  return least
end
