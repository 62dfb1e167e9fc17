#!lua flags=allow-oom
-- Makes a shard continue from a ledger that it does not fit. Its next generation follows the ledger's, and counts that the
-- table has or may have are dropped. The step does nothing if the shard has changed since it was read. Newer counts stay.
-- A script: numbers and counts change in one step, so that no drain or other repair runs in between.
-- KEYS  the shard
-- ARGV  layout · observed state, <born> " " <base> " " <ack> · generation of the ledger ·
--       last generation to drop, by its number in the fields; empty: only acknowledged ones ·
--       when the shard of the ledger's last generation was created, ms in hexadecimal: batches that were acknowledged
--       until then and sent again are in the table ·
--       ended generations with a wrong sum: MessagePack, an array of generation, stored sum and correct sum
-- Reply STATUS, u8. Refused: the shard has changed, or a generation to drop is the current one
-- Errors MISMATCH, CORRUPT
-- Cost  O(generations + rows that were sent again)
-- @include counter/shard
local keys_per_step = 1
local arguments_per_step = 6

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
  if (known[5] or "") .. " " .. text_of(base) .. " " .. text_of(acked) ~= seen then return STATUS_REFUSED_BYTE end
  local last = math.max(acked, left_out or acked)
  if last >= current then return STATUS_REFUSED_BYTE end
  if current - acked > MAX_ENDED_GENERATIONS then
    return refuse("CORRUPT", "the value of the key \"" .. key .. "\" is damaged: its generation being filled is "
      .. text_of(current - acked) .. " after the last one acknowledged")
  end
  for i = 1, #sums, 3 do
    local is_ended = tonumber(sums[i]) < current
    if not is_ended or (redis.call("HGET", key, "@n:" .. sums[i]) or "") ~= sums[i + 1] then return STATUS_REFUSED_BYTE end
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
  return STATUS_DONE_BYTE
end
