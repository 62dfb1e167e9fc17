#!lua flags=allow-oom
-- Deletes fields of acknowledged generations, and marks of producers that have the expected value.
-- A script: the list of fields may be outdated. The step deletes only fields that may be deleted now.
-- KEYS  the shard
-- ARGV  layout · fields, MessagePack: an array of names in alternation with the expected values of marks
-- Reply SWEPT: the number of deleted fields
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
  return struct.pack(SWEPT, gone)
end
