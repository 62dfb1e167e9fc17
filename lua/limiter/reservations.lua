-- @include limiter/state
-- The reservations of one id. A settled one stays for a while with -1 permits, so that a second settle differs from a settle
-- after the lease. A reservation counts against every policy of its limiter until its lease ends, and can be settled for a
-- while longer.
-- Value: a LEASE for each, in order of arrival.
local function holds_of(key, now)
  local text = redis.pcall("GET", key) or ""
  if type(text) == "table" then damaged(key, text.err) end
  if #text % LEASE_BYTES ~= 0 then damaged(key, #text .. " bytes are not a list of reservations") end
  local all, live, sum = {}, {}, 0
  for at = 1, #text, LEASE_BYTES do
    local expires, permits = struct.unpack(LEASE_TERM, text, at + LEASE_EXPIRE_AT_MS_AT)
    if not is_whole(expires) or permits ~= -1 and not is_whole(permits) then damaged(key, "it is not a list of reservations") end
    if expires > now - SETTLE_GRACE_MS then
      local token = string.sub(text, at, at + (LEASE_EXPIRE_AT_MS_AT - 1))
      local hold = { token = token, expires = expires, permits = permits }
      all[#all + 1] = hold
      if expires > now and permits > 0 then
        live[#live + 1] = hold
        sum = sum + permits
      end
    end
  end
  table.sort(live, function(one, other) return one.expires < other.expires end)
  return { key = key, all = all, live = live, sum = sum }
end

local function find(all, token)
  for i = 1, #all do
    if all[i].token == token then return i end
  end
end

local function write_holds(holds)
  local parts, ends = {}, 0
  for i = 1, #holds.all do
    local hold = holds.all[i]
    parts[i] = hold.token .. struct.pack(LEASE_TERM, hold.expires, hold.permits)
    ends = math.max(ends, hold.expires)
  end
  redis.call("SET", holds.key, table.concat(parts), "PXAT", whole(ends + SETTLE_GRACE_MS))
  return ends
end

-- Drops the first settled one if there are more than `most`. Returns false if it drops none.
local function forget_settled(holds, most)
  local count, first = 0, nil
  for i = 1, #holds.all do
    if holds.all[i].permits < 0 then
      count, first = count + 1, first or i
    end
  end
  return count > most and table.remove(holds.all, first)
end

local function own_wait(p, permits, now)
  return permits <= p.free and 0 or kinds[p.kind].wait(p, permits, now)
end

-- The wait of one policy while permits are reserved. A reservation may end before the policy's own permits are free.
local function wait_of(p, permits, now)
  local holds = p.held
  if not holds then return own_wait(p, permits, now) end
  local left = holds.sum
  local least = own_wait(p, permits + left, now)
  for i = 1, #holds.live do
    left = left - holds.live[i].permits
    least = math.min(least, math.max(holds.live[i].expires - now, own_wait(p, permits + left, now)))
  end
  return least
end
