-- @include limiter/permits
-- What is reserved and not settled yet, one string of permits; of one that is settled the token stands for a while, with
-- -1 permits, so that settling it again is told from settling what is over.
-- It counts against every policy of its limiter until its lease is over, and may be settled for a while longer.
local function holds_of(key, now)
  local all = lent_of(redis.call("GET", key) or "", 1, now - settle_grace_ms)
  local live, sum = {}, 0
  for i = 1, #all do
    if all[i].expires > now and all[i].permits > 0 then
      live[#live + 1] = all[i]
      sum = sum + all[i].permits
    end
  end
  table.sort(live, function(one, other) return one.expires < other.expires end)
  return { key = key, all = all, live = live, sum = sum }
end

local function write_holds(holds)
  local bytes, ends = bytes_of(holds.all)
  redis.call("SET", holds.key, bytes, "PXAT", whole(ends + settle_grace_ms))
  return ends
end

-- Forgets the first that is settled where more than `most` are; false where not.
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

-- The wait of one policy while permits are reserved: some of those may be free before the policy's own are.
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
