#!lua flags=allow-oom
-- The layout of a counter, in one key for all its shards. Compares another layout with it.
-- A script: the layout is compared and written in one step, so that of two processes that start at once one is refused.
-- KEYS  the shape key, a hash with the field @layout alone
--       It is written once for each layout, and must be readable even if memory is full.
-- ARGV  layout · "look", for a read: refuses an older layout than the counter's; "count", for an addition: accepts it;
--       "make", for an addition: writes the layout if there is none or an older one. The others write nothing
-- Reply SHAPE, u8. Stored: this layout or a newer one is stored
-- Errors MISMATCH, CORRUPT; nothing was written
-- Cost  O(1)
-- @include counter/shard
local keys_per_step = 1
local arguments_per_step = 2
local function step(k, a, now)
  local layout, use = ARGV[a], ARGV[a + 1]
  local known, refused = open_shard(KEYS[k], layout, use ~= "look")
  if refused then return refused end
  if known[1] and #known[1] >= #layout then return SHAPE_STORED_BYTE end
  if use ~= "make" then return SHAPE_MISSING_BYTE end
  redis.call("HSET", KEYS[k], "@layout", layout)
  return SHAPE_STORED_BYTE
end
