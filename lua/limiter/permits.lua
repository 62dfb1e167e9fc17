-- @include limiter/state
-- Permits that are lent until they are given back or their lease is over, 32 bytes each:
--   0 token, 16 bytes · 16 f64 expires at · 24 f64 permits
-- The calls of a group have tokens that differ in their last 4 bytes.
local function lent_of(text, from, now)
  local lent, sum = {}, 0
  for at = from, #text - 31, 32 do
    local expires, permits = struct.unpack("<dd", text, at + 16)
    if expires > now then
      lent[#lent + 1] = { token = string.sub(text, at, at + 15), expires = expires, permits = permits }
      sum = sum + permits
    end
  end
  return lent, sum
end

local function bytes_of(lent)
  local parts, ends = {}, 0
  for i = 1, #lent do
    parts[i] = lent[i].token .. struct.pack("<dd", lent[i].expires, lent[i].permits)
    ends = math.max(ends, lent[i].expires)
  end
  return table.concat(parts), ends
end

local function find(lent, token)
  for i = 1, #lent do
    if lent[i].token == token then return i end
  end
end

-- Concurrency: at most `limit` permits lent at a time, each for `span` ms. State: the head · the permits
kinds[4] = {
  look = function(p, now)
    local text = redis.call("GET", p.key) or ""
    head_of(p, text)
    p.lent, p.used = lent_of(text, 25, now)
    p.free = p.limit - p.used
  end,
  wait = function(p, permits, now)
    if permits > p.limit then return math.huge end
    table.sort(p.lent, function(one, other) return one.expires < other.expires end)
    local used = p.used
    for i = 1, #p.lent do
      used = used - p.lent[i].permits
      if used + permits <= p.limit then return p.lent[i].expires - now end
    end
    return math.huge
  end,
  reset = function(p, now)
    local last = 0
    for i = 1, #p.lent do last = math.max(last, p.lent[i].expires - now) end
    return last
  end,
  put = function(p, calls, cost, now, token)
    if cost == 0 then return end
    for i = 0, calls - 1 do
      p.lent[#p.lent + 1] =
        { token = string.sub(token, 1, 12) .. struct.pack("<I4", i), expires = now + p.span, permits = cost }
    end
    p.used = p.used + calls * cost
    kinds[4].write(p, now)
  end,
  back = function() end,
  write = function(p, now)
    local bytes, ends = bytes_of(p.lent)
    keep(p, head_bytes(p) .. bytes, ends, now)
  end,
}
