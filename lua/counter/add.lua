#!lua
-- Counts a batch once: it moves a mark, a producer's or a source's, from one place to the next, and counts only if it did.
-- A script: the mark and all counts are one step, so that a batch that is sent again, however late, counts once.
-- KEYS  the shard
-- ARGV  layout · mark, a field · its place before, text, empty: none · its place then · total, which is the sum of the rows ·
--       rows, MessagePack: an array of <start>|<value>|... and count, decimal text without sign, by turns
-- Reply u8 status (0 counted, 1 elsewhere: nothing was written) · f64 generation · the mark's place before, text
-- Errors CLASH, ERROR where a generation's sum would pass 2^63 - 1; nothing was written
-- Cost  O(rows)
-- @include counter/shard
local keys_per_step = 1
local arguments_per_step = 6
local function step(k, a, now)
  local key, layout, mark, before, after = KEYS[k], ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3]
  local known, refused = open_shard(key, layout, mark)
  if refused then return refused end
  local place = known[4] or ""
  local generation = known[2]
  if place ~= before then
    -- Written as it is: who waits for replicas waits for what its connection wrote, and this one may be new.
    if known[4] then redis.call("HSET", key, mark, place) end
    return struct.pack("<Bd", 1, generation) .. place
  end

  local rows, prefix = cmsgpack.unpack(ARGV[a + 5]), text_of(generation)
  -- The first write, and the only one that can fail: no row's count passes the sum.
  redis.call("HINCRBY", key, "@n:" .. prefix, ARGV[a + 4])
  redis.call("HSET", key, "@layout", layout, "@cur", prefix, mark, after)
  prefix = prefix .. "|"
  local call = redis.call
  for i = 1, #rows, 2 do call("HINCRBY", key, prefix .. rows[i], rows[i + 1]) end
  return struct.pack("<Bd", 0, generation) .. place
end
