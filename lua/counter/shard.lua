-- A shard of a counter: one hash, which never expires and, once it is there, is never empty.
--   @layout        format, shards, finest bucket, time zone, dimensions; all who use it must agree. Dimensions that were added
--                  later begin with "+", and stand at the end: a layout that has more of them is newer. Steps of a newer
--                  layout work on a shard of an older one. A step of an older layout may count in a shard of a newer one,
--                  its rows lack values, and no more: it cannot understand the newer rows
--   @born          when it was made, ms in hexadecimal, by the server's clock; absent: by a version that did not say
--   @base          what is added to a number of a generation to give its number in the ledger; absent: 0
--   @cur           generation that is being filled; absent: 1
--   @ack           last generation that is safely elsewhere; absent: 0
--   @pure          first generation begun after a ledger that does not fit was read, " ", that ledger (lua/counter/part.lua)
--   @rebased       when it was last made to follow a ledger: that ledger (lua/counter/in-table.lua)
--   @again         names of the fields r..., each with a blank behind it
--   @n:<gen>       sum of what was counted in a generation that is not
--   @x:<gen>       nonce that a generation got when it was frozen: no other one, here or in a copy, has it
--   w:<producer>   number of its last batch
--   s:<source>     last offset of a source that can be replayed, 32 hexadecimal digits
--   <gen>|<start>|<value>|<value>...   counts: start in minutes since 1970, values in the order of the dimensions,
--                  without those of dimensions that whoever counted did not know: they are empty
--   !<gen>|...     what stood in such a field and was no whole number, as it was
--   r<gen>|<born>.<number>|<mark>|<place>   rows that a producer gave again in <gen>: where they were acknowledged before
-- Whole numbers travel as text: a count may be beyond 2^53.
local function extends(layout, older)
  return string.sub(layout, 1, #older + 2) == older .. "|+"
end

-- Layout, generation being filled, last one acknowledged, base, and more fields that are asked for; or a refusal.
-- may_be_older: the layout may be older than the shard's.
local function open_shard(key, layout, may_be_older, ...)
  local known = redis.call("HMGET", key, "@layout", "@cur", "@ack", "@base", ...)
  local own = known[1]
  if own and own ~= layout and not extends(layout, own) and not (may_be_older and extends(own, layout)) then
    return nil, refuse("MISMATCH", "the counter's layout is " .. known[1] .. ", not " .. layout .. ": use that layout, or another name")
  end
  for i, name in ipairs({ "@cur", "@ack", "@base" }) do
    local text = known[i + 1] or (i == 1 and "1" or "0")
    local number = string.find(text, "^-?%d+$") and tonumber(text)
    -- Beyond 2^53 - 1 one more is the same number.
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
