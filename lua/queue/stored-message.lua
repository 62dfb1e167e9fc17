-- Messages with their state, one after the other: LISTED · id · SIZED · value from the hash `messages` · SIZED ·
-- reason of the last failure. At most MAX_BYTES, or one larger message. `found`: alternating members and scores.

local function stored_messages(messages, found)
  local parts, bytes = {}, 0
  for i = 1, #found, 2 do
    local id = id_of(found[i])
    local known = redis.call("HMGET", messages, ":" .. id, "!" .. id)
    local value, why = known[1] or "", known[2] or ""
    bytes = bytes + #value
    if bytes > MAX_BYTES and #parts > 0 then break end
    parts[#parts + 1] = struct.pack(LISTED, tonumber(found[i + 1]), #id) .. id .. struct.pack(SIZED, #value) .. value ..
      struct.pack(SIZED, #why) .. why
  end
  return table.concat(parts)
end
