#!lua
-- Counts a batch once. The step moves a mark, a producer's or a source's, from one value to the next, and counts the batch
-- only if the mark had the expected value.
-- A script: the mark and all counts change in one step, so a batch that is sent again counts once, however late it arrives.
-- KEYS  the shard
-- ARGV  layout · mark, the name of a field · its value before, empty: none · its value after · total, the sum of the rows ·
--       rows, MessagePack: an array of <start>|<value>|... and count, decimal text without sign, in alternation ·
--       for a batch that is sent again: where it was acknowledged, <born>.<number in the ledger>, else empty. It is not
--       counted if the table has it
-- Reply ADDED · text: @born, " ", the mark's value before the step. Done: counted. Refused: the mark had another value
-- A newer layout replaces the shard's layout. Rows of an older layout are counted too.
-- A count that is not a whole number is set aside, and its row starts again at 0. It does not stop other rows.
-- Errors MISMATCH, CORRUPT, ERROR if a generation's sum would exceed 2^63 - 1; nothing was written
-- Cost  O(rows)
-- @include counter/shard
local keys_per_step = 1
local arguments_per_step = 7
local function step(k, a, now)
  local key, layout, mark, before, after = KEYS[k], ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3]
  local where = ARGV[a + 6]
  local known, refused = open_shard(key, layout, true, mark, "@born")
  if refused then return refused end
  local place, born = known[5] or "", known[6] or ""
  local generation = known[2]
  if place ~= before then
    -- Written unchanged: WAIT covers only writes of its own connection, and this connection may be new.
    if known[5] then redis.call("HSET", key, mark, place) end
    return struct.pack(ADDED, STATUS_REFUSED, generation + known[4]) .. born .. " " .. place
  end

  if where ~= "" then
    local limit = redis.call("HGET", key, "@rebased") or ""
-- @include counter/in-table
    if is_in_table then
      redis.call("HSET", key, mark, after)
      return struct.pack(ADDED, STATUS_DONE, generation + known[4]) .. born .. " " .. place
    end
  end

  local rows, prefix = cmsgpack.unpack(ARGV[a + 5]), text_of(generation)
  -- The first write, and the only one that can fail: no row's count exceeds the sum.
  redis.call("HINCRBY", key, "@n:" .. prefix, ARGV[a + 4])
  -- Of two compatible layouts the longer one is newer.
  if known[1] and #known[1] > #layout then layout = known[1] end
  redis.call("HSET", key, "@layout", layout, "@cur", prefix, mark, after)
  if not known[1] then
    born = string.format("%x", now)
    redis.call("HSET", key, "@born", born)
  end
  local call, try = redis.call, redis.pcall
  if where ~= "" then
    local name = "r" .. prefix .. "|" .. where .. "|" .. mark .. "|" .. after
    -- No row contains "%;".
    call("HSET", key, name, table.concat(rows, "%;"), "@again", (call("HGET", key, "@again") or "") .. name .. " ")
  end
  prefix = prefix .. "|"
  for i = 1, #rows, 2 do
    local field = prefix .. rows[i]
    if type(try("HINCRBY", key, field, rows[i + 1])) ~= "number" then
      call("HSET", key, "!" .. field, call("HGET", key, field), field, rows[i + 1])
    end
  end
  return struct.pack(ADDED, STATUS_DONE, generation + known[4]) .. born .. " " .. place
end
