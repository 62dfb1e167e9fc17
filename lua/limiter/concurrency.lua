-- @include limiter/state
-- Concurrency: at most `limit` permits are lent at a time, each for `span` ms. A step reads only ended, new and named leases,
-- so a state with 10 000 leases is copied, not parsed. If a damaged state lacks leases, their permits count as lent until no
-- lease is left.
-- State: the head · 24 f64 permits lent, ended leases included · 32 leases in order of expiry, 32 bytes each:
--   0 token, 16 bytes · 16 f64 expires at · 24 f64 permits
-- The calls of a group have tokens that differ in their last 4 bytes.
local LENT_BYTES = 32

local function last_expiry(lent)
  if lent == "" then return 0 end
  local expires = struct.unpack("<d", lent, #lent - 15)
  return expires
end

kinds[4] = {
  look = function(p, now)
    local text = redis.pcall("GET", p.key)
    head_of(p, text, 32, now)
    text = text or ""
    p.used = p.there and struct.unpack("<d", text, 25) or 0
    local at, is_damaged = 33, #text % LENT_BYTES ~= 0
    while at < #text and not is_damaged do
      local expires, permits = struct.unpack("<dd", text, at + 16)
      is_damaged = not is_whole(expires) or not is_whole(permits)
      if expires > now then break end
      p.used, at = p.used - permits, at + LENT_BYTES
    end
    p.lent = string.sub(text, at)
    local leases = #p.lent / LENT_BYTES
    -- The key expires with the last lease.
    if is_damaged or not is_whole(last_expiry(p.lent)) or not is_whole(p.used) or p.used < leases or (leases == 0 and p.used > 0) then
      damaged(p.key, "it has no list of lent permits")
    end
    p.free = p.limit - p.used
  end,
  wait = function(p, permits, now)
    if permits > p.limit then return math.huge end
    local used = p.used
    for at = 1, #p.lent, LENT_BYTES do
      local expires, its = struct.unpack("<dd", p.lent, at + 16)
      used = used - its
      if used + permits <= p.limit then return expires - now end
    end
    return math.huge
  end,
  reset = function(p, now)
    return math.max(0, last_expiry(p.lent) - now)
  end,
  put = function(p, calls, cost, now, token)
    if cost == 0 then return end
    local before, expires, parts = #p.lent, now + p.span, {}
    while before > 0 and struct.unpack("<d", p.lent, before - 15) > expires do before = before - LENT_BYTES end
    for i = 0, calls - 1 do
      parts[i + 1] = string.sub(token, 1, 12) .. struct.pack("<I4dd", i, expires, cost)
    end
    p.lent = string.sub(p.lent, 1, before) .. table.concat(parts) .. string.sub(p.lent, before + 1)
    p.used = p.used + calls * cost
    kinds[4].write(p, now)
  end,
  back = function() end,
  release = function(p, token, now)
    local at = string.find(p.lent, token, 1, true)
    while at and at % LENT_BYTES ~= 1 do at = string.find(p.lent, token, at + 1, true) end
    if not at then return end
    local permits = struct.unpack("<d", p.lent, at + 24)
    if not is_whole(permits) or permits > p.used then damaged(p.key, "it has no list of lent permits") end
    p.used = p.used - permits
    p.lent = string.sub(p.lent, 1, at - 1) .. string.sub(p.lent, at + LENT_BYTES)
    kinds[4].write(p, now)
  end,
  write = function(p, now)
    keep(p, head_bytes(p) .. struct.pack("<d", p.used) .. p.lent, last_expiry(p.lent), now)
  end,
}
