#!lua
-- Lists the spreads of a sharded series, and notes the one of this process.
-- One atomic step: of two processes that begin with different numbers of shards, one is refused.
-- KEYS  1 the list of spreads, and nothing else · 2 the open chunk of the series without shards
-- ARGV  1 number of shards · 2 position of this server in a list of servers, from 1; 0 without a list · 3 kind, as in SPREADS
--       4 ms for which the spread is listed from now on; 0: it is not noted · 5 1: the process begins, and may be refused
--       6 how many ms ago the process had noted its spread on every server of the list; -1: it has not yet
-- Reply AGREED, then each listed spread as LISTED
-- Errors MISMATCH, if a spread is listed of another kind, or one in use with more shards or this server at another position; CORRUPT.
--       Nothing was written
-- Law   A noted spread stays listed until its time is over: another one never replaces it. That time never gets shorter, because the
--       store keeps events for the longest retention of any writer. A time from the future, because the server's clock was set back,
--       counts as now.
-- Cost  O(spreads)
-- @include layouts/shards
-- @include store/refuse
local keys_per_step = 2
local arguments_per_step = 6

-- The spreads, and their kind, or why they are damaged.
local function listed_at(key, now)
  local bytes = redis.call("GET", key)
  if not bytes then return {} end
  local damaged = refuse("CORRUPT", "it is no list of spreads")
  local is_whole = #bytes >= SPREADS_BYTES and (#bytes - SPREADS_BYTES) % SPREAD_BYTES == 0
  if not is_whole or struct.unpack("<I4", bytes) ~= SPREADS_FORMAT then
    return nil, nil, damaged
  end
  local format, kind = struct.unpack(SPREADS, bytes)
  local spreads = {}
  for at = SPREADS_BYTES + 1, #bytes, SPREAD_BYTES do
    local shards, position, seen, keep, whole = struct.unpack(SPREAD, bytes, at)
    if not (shards >= 1 and shards <= MAX_SHARDS and position <= MAX_SHARDS and seen >= 0 and keep > 0 and keep <= LONGEST_KEEP_MS and whole >= 0) then
      return nil, nil, damaged
    end
    seen, whole = math.min(seen, now), math.min(whole, now)
    if seen + keep >= now then
      spreads[#spreads + 1] = { shards = shards, position = position, seen = seen, keep = keep, whole = whole }
    end
  end
  return spreads, kind
end

local function position_text(position)
  return position == 0 and "the only one" or "number " .. position .. " of a list"
end

local function refusal_of(spreads, shards, position, is_other, now)
  if is_other and #spreads > 0 then
    return refuse("MISMATCH", "its shards have other values, another clock, or other labels or their order; choose another name")
  end
  for _, one in ipairs(spreads) do
    if now - one.seen < IN_USE_MS then
      if one.shards > shards then
        return refuse("MISMATCH", "other processes record in " .. one.shards .. " shards, and this one in " .. shards
          .. "; name as many, or begin " .. IN_USE_MS / 1000 .. " s after the last of them ended")
      end
      if one.position ~= position then
        return refuse("MISMATCH", "this server is " .. position_text(position) .. " for this process, and "
          .. position_text(one.position) .. " for others")
      end
    end
  end
end

local function noted(spreads, shards, position, keep, whole, now)
  for _, one in ipairs(spreads) do
    if one.shards == shards and one.position == position then
      one.keep = math.max(keep, one.keep)
      one.seen = now
      one.whole = math.max(whole, one.whole)
      return
    end
  end
  spreads[#spreads + 1] = { shards = shards, position = position, seen = now, keep = keep, whole = whole }
end

local function step(k, a, now)
  local key, shards, position, own_kind = KEYS[k], tonumber(ARGV[a]), tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local keep, whole_ago = tonumber(ARGV[a + 3]), tonumber(ARGV[a + 5])
  local spreads, kind, damage = listed_at(key, now)
  if damage then return damage end
  local refused = ARGV[a + 4] == "1" and refusal_of(spreads, shards, position, kind ~= own_kind, now)
  if refused then return refused end
  local reply = { struct.pack(AGREED, redis.call("EXISTS", KEYS[k + 1])) }
  if keep > 0 then
    if #spreads == 0 then kind = own_kind end
    noted(spreads, shards, position, keep, whole_ago < 0 and 0 or math.max(0, now - whole_ago), now)
    local bytes, last = { struct.pack(SPREADS, SPREADS_FORMAT, kind) }, 0
    for _, one in ipairs(spreads) do
      bytes[#bytes + 1] = struct.pack(SPREAD, one.shards, one.position, one.seen, one.keep, one.whole)
      last = math.max(last, one.seen + one.keep)
    end
    redis.call("SET", key, table.concat(bytes), "PXAT", string.format("%.0f", last))
  end
  for _, one in ipairs(spreads) do
    reply[#reply + 1] = struct.pack(LISTED, one.shards, one.position, one.whole == 0 and -1 or now - one.whole)
  end
  return table.concat(reply)
end
