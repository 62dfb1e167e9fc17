#!lua
-- Appends like append, if the dictionary of the groups still begins with the part by which the events got their numbers.
-- One atomic step: after a failover or a loss the same number may be another group.
-- KEYS  1 the open chunk · 2 the dictionary (lua/groups/intern.lua)
-- ARGV  1 to 4 as for append · 5 GUARD
-- Reply as for append, with one more status: 7, the known part is not there
-- Law   as for append. Status 4 also says that the chunk is of an earlier dictionary. So a chunk has events of one dictionary. An
--       append extends the expiry of the dictionary to a minute after that of the chunk. It never makes it shorter.
-- Cost  as for append, and three commands
-- @include journal/append
-- @include layouts/groups
local keys_per_step = 2
local arguments_per_step = 5
local append = step

local function step(k, a, now)
  local open, dictionary, guard = KEYS[k], KEYS[k + 1], ARGV[a + 4]
  local its_length, first_chunk = struct.unpack(GUARD, guard)
  local is_known = redis.call("GETRANGE", dictionary, its_length - 4, its_length - 1)
    == string.sub(guard, GUARD_NONCE_AT + 1, GUARD_FIRST_CHUNK_AT)
  local header = redis.call("GETRANGE", open, "0", CHUNK_LAST_BYTE_TEXT)
  local format, value_type, number, birth_before = FORMAT, string.byte(ARGV[a]), now, 0
  if header ~= "" then format, value_type, number, birth_before = struct.unpack(CHUNK, header) end
  local is_earlier = is_known and number < first_chunk and format == FORMAT and value_type == string.byte(ARGV[a])
  if is_earlier or not is_known then
    local length, status = redis.call("STRLEN", open), 7
    if is_earlier then
      -- Without a journal nobody has these numbers. Its first chunk would have one before those of the dictionary, so that one ends.
      if birth_before == 0 and length <= CHUNK_BYTES then redis.call("DEL", dictionary) else status = 4 end
    end
    return answer(status, now, header, length, "", 0, 0, "")
  end
  local reply = append(k, a, now)
  local status, length = struct.unpack(ANSWER, reply)
  if status == 0 and length > 0 then
    local chunk_ms, last, retention = struct.unpack(CHUNK, reply, ANSWER_BYTES + 1)
    redis.call("PEXPIREAT", dictionary, whole(expiry_of(last, retention, chunk_ms) + EXPIRY_SLACK_MS), "GT")
  end
  return reply
end
