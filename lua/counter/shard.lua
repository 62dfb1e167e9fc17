-- A shard of a counter: one hash. It never expires, and is never empty once it exists.
--   @layout        format, shards, finest bucket, time zone, dimensions; all processes must agree. Added dimensions
--                  begin with "+" and come last, so a layout with more of them is newer. Steps of a newer
--                  layout work on a shard of an older one. A step of an older layout may only count in a shard of a newer
--                  one. Its rows lack values, and it cannot read the newer rows
--   @born          when the shard was created, ms in hexadecimal, by the server's clock; absent: by an old version
--   @base          added to a generation's number to give its number in the ledger; absent: 0
--   @cur           current generation; absent: 1
--   @ack           last acknowledged generation; absent: 0
--   @pure          first generation begun after a ledger that does not fit was read, " ", that ledger (lua/counter/part.lua)
--   @rebased       the ledger of the last rebase (lua/counter/in-table.lua)
--   @again         names of the fields r..., each followed by a space
--   @n:<gen>       sum of the counts of a generation that is not acknowledged
--   @x:<gen>       nonce of a frozen generation; no other generation, here or in a copy, has it
--   w:<producer>   number of its last batch
--   s:<source>     last offset of a source that can be replayed, 32 hexadecimal digits
--   <gen>|<start>|<value>|<value>...   counts: start in minutes since 1970, values in the order of the dimensions,
--                  without dimensions that the counting process did not have: those are empty
--   !<gen>|...     the former value of such a field that was not a whole number
--   r<gen>|<born>.<number>|<mark>|<value>   rows that a producer sent again in <gen>, and where they were acknowledged before
-- Whole numbers are sent as text, because a count may exceed 2^53.
-- @include layouts/counter
local function extends(layout, older)
  return string.sub(layout, 1, #older + 2) == older .. "|+"
end

-- Returns layout, current generation, last acknowledged one, base, and the requested fields; or nil and a refusal.
-- may_be_older: the layout may be older than the shard's.
local function open_shard(key, layout, may_be_older, ...)
  local known = redis.call("HMGET", key, "@layout", "@cur", "@ack", "@base", ...)
  local own = known[1]
  if own and own ~= layout and not extends(layout, own) and not (may_be_older and extends(own, layout)) then
    return nil, refuse("MISMATCH", "the counter's layout (format|shards|finest bucket|time zone|dimensions) is " .. known[1] .. ", not " .. layout .. ": use that layout, or another name")
  end
  for i, name in ipairs({ "@cur", "@ack", "@base" }) do
    local text = known[i + 1] or (i == 1 and "1" or "0")
    local number = string.find(text, "^-?%d+$") and tonumber(text)
    -- Above 2^53 - 1 adding one may not change the number.
    if not number or math.abs(number) > 9007199254740991 then
      return nil, refuse("CORRUPT", "the value of the key \"" .. key .. "\" is damaged: its field " .. name .. " is not a whole number")
    end
    known[i + 1] = number
  end
  return known
end

local function text_of(generation)
  return string.format("%.0f", generation)
end
