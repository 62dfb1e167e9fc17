-- @include layouts/journal
-- @include journal/chunk
-- The answer of append, read and rotate: ANSWER (layouts/journal.mjs), the header (absent without a chunk), the verdicts, u8
-- each, and the bytes of the chunk from `from` on. src/engine/journal/format/answer.ts reads it.
local function answer(status, now, header, length, verdicts, continued, from, bytes)
  return struct.pack(ANSWER, status, continued, #verdicts, from, now, length, 0) .. header .. verdicts .. bytes
end
