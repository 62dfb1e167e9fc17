#!lua
-- Acquires permits of a semaphore for a token on one of several servers, if they are free.
-- One atomic step: between the check and the entry another process could acquire the same permits.
-- KEYS  1 the permits in use: a sorted set of members by the end of their leases, ms. Each permit has a member
--       <token>_<number>, as in redis-semaphore, whose scores are the starts of the leases
-- ARGV  1 token · 2 lease, ms · 3 the numbers of its permits, as "0,1,2"
-- Reply ACQUIRED, and after a refusal the numbers in use, as "0,7". Acquired: the token has the permits at least until now + lease
-- Law   no number is in use twice. A lease counts from the server's clock, and lasts until its end, whatever the leases of other
--       holds are. A repeated call acquires nothing more, and shortens nothing.
--       Counting alone cannot limit several servers: holds on different majorities of three could be limit * 3 / 2. A number
--       that the majority has given to one hold cannot get a majority for another.
-- Cost  O(permits in use)
-- @include layouts/semaphore
local keys_per_step = 1
local arguments_per_step = 3

-- The numbers in use as text, and when the first of them is free again if one of `wanted` is among them.
local function in_use(key, wanted, now)
  local numbers, first_end, is_wanted = {}, nil, false
  for i, field in ipairs(redis.call("ZRANGE", key, 0, -1, "WITHSCORES")) do
    if i % 2 == 0 then
      first_end = first_end or field
    else
      local number = string.match(field, "_(%d+)$") or ""
      numbers[#numbers + 1] = number
      if string.find(wanted, "," .. number .. ",", 1, true) then is_wanted = true end
    end
  end
  return table.concat(numbers, ","), is_wanted and first_end
end

local function step(k, a, now)
  local call = redis.call
  local key, token, ends, numbers = KEYS[k], ARGV[a], now + tonumber(ARGV[a + 1]), ARGV[a + 2]
  call("ZREMRANGEBYSCORE", key, "-inf", "(" .. string.format("%.0f", now))
  local count, first = call("ZCARD", key), token .. "_" .. string.match(numbers, "^%d+")
  if count > 0 then
    local busy, free_at = in_use(key, "," .. numbers .. ",", now)
    if free_at and not call("ZSCORE", key, first) then
      return struct.pack(ACQUIRED, STATUS_REFUSED, math.max(0, tonumber(free_at) - now) + 1) .. busy
    end
  end
-- @include semaphore/hold
  return struct.pack(ACQUIRED, STATUS_ACQUIRED, 0)
end
