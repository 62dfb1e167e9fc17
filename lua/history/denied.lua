#!lua
-- Adds counts of denied ids, and reads those of the last hour.
-- A script: the slot is chosen by the server's clock, and the least counts are removed in the step that adds others.
-- KEYS  SLOTS (7) sorted sets: id to its denials in one slot. A slot has the key of its number modulo SLOTS
-- ARGV  1 DENIED and the id, for each id that was denied; may be empty · 2 "1" to read
-- Reply if it was asked for: DENIED and the id, for each id of each slot
-- Error CORRUPT names the key; nothing was written
-- Law   A slot expires when its key is needed again. Above MAX_SLOT_IDS, the ids with the fewest denials are removed, of equal
--       ones those that come first in the order of their bytes.
-- Cost  O(added ids * log(MAX_SLOT_IDS)), and O(SLOTS * MAX_SLOT_IDS) to read
-- @include layouts/history
-- @include store/refuse
local keys_per_step = 7
local arguments_per_step = 2

local function step(k, a, now)
  local batch, slot = ARGV[a], math.floor(now / SLOT_MS)
  local key, at = KEYS[k + slot % SLOTS], 1
  for i = 0, SLOTS - 1 do
    local kind = redis.call("TYPE", KEYS[k + i])
    kind = kind.ok or kind
    if kind ~= "zset" and kind ~= "none" then
      return refuse("CORRUPT", 'the value of the key "' .. KEYS[k + i] .. '" is damaged: it is not a sorted set of ids')
    end
  end
  while at <= #batch do
    local count, text_bytes = struct.unpack(DENIED, batch, at)
    at = at + DENIED_BYTES + text_bytes
    redis.call("ZADD", key, "INCR", string.format("%.0f", count), string.sub(batch, at - text_bytes, at - 1))
  end
  if batch ~= "" then
    local excess = redis.call("ZCARD", key) - MAX_SLOT_IDS
    if excess > 0 then
      for _, id in ipairs(redis.call("ZRANGE", key, "0", tostring(excess - 1))) do redis.call("ZREM", key, id) end
    end
    redis.call("PEXPIREAT", key, string.format("%.0f", (slot + SLOTS) * SLOT_MS))
  end
  if ARGV[a + 1] ~= "1" then return "" end
  local reply = {}
  for i = 0, SLOTS - 1 do
    local ids = redis.call("ZRANGE", KEYS[k + i], "0", "-1", "WITHSCORES")
    for j = 1, #ids, 2 do reply[#reply + 1] = struct.pack(DENIED, tonumber(ids[j + 1]), #ids[j]) .. ids[j] end
  end
  return table.concat(reply)
end
