#!lua flags=allow-oom
-- The layout of a counter, in one key for all its shards: says whether another layout agrees with it.
-- A script: a layout is compared and written in one step, so that of two that begin at once one is refused.
-- KEYS  the shape key, a hash with the field @layout alone
--       It is written once, and a reader must look at it where memory is full.
-- ARGV  layout · "look": writes nothing; "make": writes the layout where there is none
-- Reply u8 (0 there is a layout, and it agrees; 1 there is none)
-- Errors CLASH, CORRUPT; nothing was written
-- Cost  O(1)
-- @include counter/shard
local keys_per_step = 1
local arguments_per_step = 2
local function step(k, a, now)
  local known, refused = open_shard(KEYS[k], ARGV[a])
  if refused then return refused end
  if known[1] then return struct.pack("<B", 0) end
  if ARGV[a + 1] ~= "make" then return struct.pack("<B", 1) end
  redis.call("HSET", KEYS[k], "@layout", ARGV[a])
  return struct.pack("<B", 0)
end
