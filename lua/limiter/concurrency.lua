-- @include limiter/state
-- Concurrency: at most `limit` permits are lent at a time, each for `span` ms. A step reads only ended, new and named leases,
-- so a state with 10 000 leases is copied, not parsed. If a damaged state lacks leases, their permits count as lent until no
-- lease is left.
-- State: CONCURRENCY_STATE, with the permits lent, ended leases included. Then a LEASE for each call, in order of expiry.

local function last_expiry(lent)
  if lent == "" then return 0 end
  local expires = struct.unpack(LEASE_TERM, lent, #lent - (LEASE_TERM_BYTES - 1))
  return expires
end

kinds[KIND_CONCURRENCY] = {
  look = function(p, now)
    local text = redis.pcall("GET", p.key)
    head_of(p, text, CONCURRENCY_STATE_BYTES, now)
    text = text or ""
    p.used = p.there and struct.unpack(CONCURRENCY, text, STATE_HEAD_BYTES + 1) or 0
    local at, is_damaged = CONCURRENCY_STATE_BYTES + 1, #text % LEASE_BYTES ~= 0
    while at < #text and not is_damaged do
      local expires, permits = struct.unpack(LEASE_TERM, text, at + LEASE_EXPIRE_AT_MS_AT)
      is_damaged = not is_whole(expires) or not is_whole(permits)
      if expires > now then break end
      p.used, at = p.used - permits, at + LEASE_BYTES
    end
    p.lent = string.sub(text, at)
    local leases = #p.lent / LEASE_BYTES
    -- The key expires with the last lease.
    if is_damaged or not is_whole(last_expiry(p.lent)) or not is_whole(p.used) or p.used < leases or (leases == 0 and p.used > 0) then
      damaged(p.key, "it has no list of lent permits")
    end
    p.free = p.limit - p.used
  end,
  wait = function(p, permits, now)
    if permits > p.limit then return math.huge end
    local used = p.used
    for at = 1, #p.lent, LEASE_BYTES do
      local expires, its_permits = struct.unpack(LEASE_TERM, p.lent, at + LEASE_EXPIRE_AT_MS_AT)
      used = used - its_permits
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
    while before > 0 and struct.unpack(LEASE_TERM, p.lent, before - (LEASE_TERM_BYTES - 1)) > expires do
      before = before - LEASE_BYTES
    end
    for i = 0, calls - 1 do
      parts[i + 1] = string.sub(token, 1, LEASE_CALL_AT) .. struct.pack(LEASE_OF_CALL, i, expires, cost)
    end
    p.lent = string.sub(p.lent, 1, before) .. table.concat(parts) .. string.sub(p.lent, before + 1)
    p.used = p.used + calls * cost
    kinds[KIND_CONCURRENCY].write(p, now)
  end,
  back = function() end,
  release = function(p, token, now)
    local at = string.find(p.lent, token, 1, true)
    while at and at % LEASE_BYTES ~= 1 do at = string.find(p.lent, token, at + 1, true) end
    if not at then return end
    local permits = struct.unpack(LEASE_TERM, p.lent, at + LEASE_EXPIRE_AT_MS_AT)
    if not is_whole(permits) or permits > p.used then damaged(p.key, "it has no list of lent permits") end
    p.used = p.used - permits
    p.lent = string.sub(p.lent, 1, at - 1) .. string.sub(p.lent, at + LEASE_BYTES)
    kinds[KIND_CONCURRENCY].write(p, now)
  end,
  write = function(p, now)
    keep(p, head_bytes(p) .. struct.pack(CONCURRENCY, p.used) .. p.lent, last_expiry(p.lent), now)
  end,
}
