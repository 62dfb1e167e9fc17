#!lua flags=allow-oom
-- Answers a reader that holds nothing and accepts an error: a summary, if one is found, and of the open chunk what
-- came after it; else as cold does.
-- A script: the summary is held against the open chunk of the same instant, in one request.
-- KEYS  the open chunk; the summary is found beside it (see older), as closed chunks are
-- ARGV  1 known, naming nothing (see lacking) · 2 reach (see older)
-- Reply u32 bytes of the summary, 0 for none · the summary · then as older says, without closed chunks behind a summary
-- Law   a summary is given where the open chunk goes on from it, or has a higher number: then its reader looks whether
--       the chunks between link.
-- Cost  O(bytes answered), bounded as cold
-- @include journal/cold
local keys_per_step = 1
local arguments_per_step = 2
local cold = step

local function step(k, a, now)
  local key = KEYS[k]
  local summary = redis.pcall("GET", key .. ":summary")
  if type(summary) == "string" and #summary >= CHUNK_BYTES + SUMMARY_BYTES and string.byte(summary) == SUMMARY_FORMAT then
    local header = redis.call("GETRANGE", key, "0", CHUNK_LAST_BYTE_TEXT)
    if #header == CHUNK_BYTES and string.byte(header) == FORMAT then
      local known = string.sub(summary, CHUNK_NUMBER_AT + 1, CHUNK_CREATED_MS_AT)
        .. string.sub(summary, CHUNK_BIRTH_AT + 1, CHUNK_BIRTH_BEFORE_AT)
        .. string.sub(summary, CHUNK_BYTES + 1, CHUNK_BYTES + SUMMARY_FROM_MS_AT)
      local length, continued, from, bytes = lacking(key, header, known)
      local number = struct.unpack(CHUNK, header)
      local its_number = struct.unpack(CHUNK, summary)
      if continued == 1 or number > its_number then
        local reply = answer(0, now, header, length, "", continued, from, bytes)
        return struct.pack(SIZED, #summary) .. summary .. struct.pack(SIZED, #reply) .. reply
      end
    end
  end
  return struct.pack(SIZED, 0) .. cold(k, a, now)
end
