-- Messages as they stand, one after the other: f64 score · u32, id · u32, what messages has of it · u32, why it last
-- failed; 1 MiB at most, or one message. `found`: members and scores by turns.
local MOST_LISTED_BYTES = 1048576

local function listed(messages, found)
  local parts, bytes = {}, 0
  for i = 1, #found, 2 do
    local id = id_of(found[i])
    local known = redis.call("HMGET", messages, ":" .. id, "!" .. id)
    local value, why = known[1] or "", known[2] or ""
    bytes = bytes + #value
    if bytes > MOST_LISTED_BYTES and #parts > 0 then break end
    parts[#parts + 1] = struct.pack("<dI4", tonumber(found[i + 1]), #id) .. id .. struct.pack("<I4", #value) .. value ..
      struct.pack("<I4", #why) .. why
  end
  return table.concat(parts)
end
