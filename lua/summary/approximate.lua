#!lua flags=allow-oom
-- Returns a summary, if there is one, and the bytes of the open chunk after it, for a reader without a copy that accepts an
-- error; without a summary like read-window.
-- One atomic step: it compares the summary with the open chunk of the same instant, in one request.
-- KEYS  the open chunk; the summary is found beside it, like closed chunks (see closed-chunks)
-- ARGV  1 known, without a chunk (see missing-bytes) · 2 lookback (see closed-chunks)
-- Reply u32 bytes of the summary, 0 for none · the summary · then as in closed-chunks, without closed chunks after a summary
-- Law   A summary is returned if the open chunk continues it, or has a higher number and is not a first one. In the second case the reader checks
--       that the chunks between them link.
-- Cost  O(bytes answered), bounded like read-window
-- @include journal/read-window
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
      local length, continued, from, bytes = missing_bytes(key, header, known)
      local number, birth_before = struct.unpack(CHUNK, header)
      local its_number = struct.unpack(CHUNK, summary)
      if continued == 1 or (number > its_number and birth_before ~= 0) then
        local reply = answer(0, now, header, length, "", continued, from, bytes)
        return struct.pack(SIZED, #summary) .. summary .. struct.pack(SIZED, #reply) .. reply
      end
    end
  end
  return struct.pack(SIZED, 0) .. cold(k, a, now)
end
