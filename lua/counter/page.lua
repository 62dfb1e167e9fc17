#!lua flags=allow-oom
-- Reads a shard, some fields at a time: a frozen generation, which does not change any more, or all that is there.
-- A script: generations and fields of one page are of one moment. A field may come twice, never not at all.
-- KEYS  the shard
-- ARGV  layout · cursor, text, "0" to begin · about how many fields; below 0: that many, with line feeds in them as %0A
-- Reply text, parts ended by a line feed: next cursor, "0": the end · generation being filled · last one acknowledged ·
--       base · how many texts follow · then, for each field: its name and value. Numbers are those of the fields; the base
--       added, the ledger's. No text that oriel wrote has a line feed: where there are more lines, it is asked for again
-- Errors MISMATCH, CORRUPT
-- Cost  O(fields of a page)
-- @include counter/shard
local keys_per_step = 1
local arguments_per_step = 3
local function step(k, a, now)
  local known, refused = open_shard(KEYS[k], ARGV[a], false)
  if refused then return refused end
  local count = tonumber(ARGV[a + 2])
  local page = redis.call("HSCAN", KEYS[k], ARGV[a + 1], "COUNT", math.abs(count))
  local fields = page[2]
  local head = { page[1], text_of(known[2]), text_of(known[3]), text_of(known[4]), #fields }
  local begin = table.concat(head, "\n") .. "\n"
  if #fields == 0 then return begin end
  if count < 0 then
    for i = 1, #fields do fields[i] = string.gsub(fields[i], "\n", "%%0A") end
  end
  return begin .. table.concat(fields, "\n") .. "\n"
end
