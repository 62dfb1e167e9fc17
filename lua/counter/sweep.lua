#!lua flags=allow-oom
-- Deletes fields of generations that were acknowledged, and marks of producers that stand where they were said to.
-- A script: what it is told to delete may be old news; it deletes only what is to go now.
-- KEYS  the shard
-- ARGV  layout · fields, MessagePack: an array of names and, for marks, places, by turns
-- Reply f64 fields deleted
-- Errors MISMATCH
-- Cost  O(fields)
-- @include counter/shard
local keys_per_step = 1
local arguments_per_step = 2
local function step(k, a, now)
  local key = KEYS[k]
  local known, refused = open_shard(key, ARGV[a], false)
  if refused then return refused end
  local acked, gone = known[3], 0
  local told = cmsgpack.unpack(ARGV[a + 1])
  for i = 1, #told, 2 do
    local field = told[i]
    local generation, goes = string.match(field, "^(%d+)|"), nil
    if generation then goes = tonumber(generation) <= acked
    elseif string.sub(field, 1, 2) == "w:" then goes = redis.call("HGET", key, field) == told[i + 1] end
    if goes then gone = gone + redis.call("HDEL", key, field) end
  end
  return struct.pack("<d", gone)
end
