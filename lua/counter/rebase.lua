#!lua flags=allow-oom
-- Makes a shard fit a ledger that it does not: its next generation follows the ledger's, and what the table has, or may
-- have, is left out. Nothing is done unless the shard stands as it was seen; what is counted meanwhile stays.
-- A script: numbers and counts change in one step, so that no drain and no other repair comes between.
-- KEYS  the shard
-- ARGV  layout · state as it was seen, <born> " " <base> " " <ack> · generation of the ledger ·
--       last generation that is left out, as the fields count them; empty: none beside those that are acknowledged ·
--       when the shard was made that the ledger's last generation came from, ms in hexadecimal: what was acknowledged up
--       to there and given again is in the table ·
--       sums of generations that ended and do not add up: MessagePack, an array of generation, sum as it is and as it shall be
-- Reply u8 status (0 done, 1 it stands otherwise, or what is left out is still being filled: nothing was written)
-- Errors MISMATCH, CORRUPT
-- Cost  O(generations + rows that were given again)
-- @include counter/shard
local keys_per_step = 1
local arguments_per_step = 6

-- Generations between the last one acknowledged and the one being filled: a few; each is walked to.
local MOST_ENDED = 65536

local function leave_out(key, prefix, rows)
  local parts = {}
  for part in string.gmatch(rows .. "%;", "(.-)%%;") do parts[#parts + 1] = part end
  for i = 1, #parts, 2 do
    local field = prefix .. "|" .. parts[i]
    if redis.call("HINCRBY", key, field, "-" .. parts[i + 1]) == 0 then redis.call("HDEL", key, field) end
    redis.call("HINCRBY", key, "@n:" .. prefix, "-" .. parts[i + 1])
  end
end

local function step(k, a, now)
  local key, layout, seen, ledger = KEYS[k], ARGV[a], ARGV[a + 1], tonumber(ARGV[a + 2])
  local left_out, limit, sums = tonumber(ARGV[a + 3]), ARGV[a + 4] .. " " .. ARGV[a + 2], cmsgpack.unpack(ARGV[a + 5])
  local known, refused = open_shard(key, layout, false, "@born", "@again")
  if refused then return refused end
  local current, acked, base, again = known[2], known[3], known[4], known[6]
  if (known[5] or "") .. " " .. text_of(base) .. " " .. text_of(acked) ~= seen then return struct.pack("<B", 1) end
  local last = math.max(acked, left_out or acked)
  if last >= current then return struct.pack("<B", 1) end
  if current - acked > MOST_ENDED then
    return refuse("CORRUPT", "the value of the key \"" .. key .. "\" is damaged: its generation being filled is "
      .. text_of(current - acked) .. " after the last one acknowledged")
  end
  for i = 1, #sums, 3 do
    local is_ended = tonumber(sums[i]) < current
    if not is_ended or (redis.call("HGET", key, "@n:" .. sums[i]) or "") ~= sums[i + 1] then return struct.pack("<B", 1) end
  end

  if not known[1] then redis.call("HSET", key, "@layout", layout, "@born", string.format("%x", now), "@cur", "1") end
  for name, of, where in string.gmatch(again or "", "(r(%d+)|([^|]*)|[^ ]*) ") do
-- @include counter/in-table
    if tonumber(of) > last and is_in_table then leave_out(key, of, redis.call("HGET", key, name)) end
    redis.call("HDEL", key, name)
  end
  for i = 1, #sums, 3 do redis.call("HSET", key, "@n:" .. sums[i], sums[i + 2]) end
  -- Each generation that ended is frozen anew, under a nonce that no table has.
  for generation = acked + 1, current do
    redis.call("HDEL", key, "@x:" .. text_of(generation))
    if generation <= last then redis.call("HDEL", key, "@n:" .. text_of(generation)) end
  end
  redis.call("HDEL", key, "@again", "@pure")
  redis.call("HSET", key, "@ack", text_of(last), "@base", text_of(ledger - last), "@rebased", limit)
  return struct.pack("<B", 0)
end
