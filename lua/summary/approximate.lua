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
local LEAST_SUMMARY_BYTES = 120

local function step(k, a, now)
  local key = KEYS[k]
  local summary = redis.pcall("GET", key .. ":summary")
  if type(summary) == "string" and #summary >= LEAST_SUMMARY_BYTES and string.byte(summary) == SUMMARY_FORMAT then
    local header = redis.call("GETRANGE", key, "0", "63")
    if #header == HEADER_BYTES and string.byte(header) == FORMAT then
      local known = string.sub(summary, 9, 16) .. string.sub(summary, 25, 28) .. string.sub(summary, 65, 88)
      local length, continued, from, bytes = lacking(key, header, known)
      if continued == 1 or struct.unpack("<d", header, 9) > struct.unpack("<d", summary, 9) then
        local reply = answer(0, now, header, length, "", continued, from, bytes)
        return struct.pack("<I4", #summary) .. summary .. struct.pack("<I4", #reply) .. reply
      end
    end
  end
  return struct.pack("<I4", 0) .. cold(k, a, now)
end
