#!lua flags=allow-oom
-- Reads one page of a shard's fields: of a frozen generation, which no longer changes, or of the whole shard.
-- A script: generations and fields of one page are from one instant. A field may appear twice, but is never missing.
-- KEYS  the shard
-- ARGV  layout · cursor, text, "0" to begin · approximate number of fields; negative: that many, with line feeds as %0A
-- Reply text, parts ended by a line feed: next cursor, "0": the end · current generation · last one acknowledged ·
--       base · number of texts · then, for each field: its name and value. Numbers are those of the fields; add the base for
--       the ledger's. oriel writes no line feed, so if there are more lines than texts the reader asks again
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
