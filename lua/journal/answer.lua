-- @include journal/law
-- @include journal/chunk
-- What append, read and rotate answer (src/journal/format/answer.ts reads it):
--   0 u8 status · 1 u8 continued · 2 u16 verdicts · 4 u32 from · 8 f64 now · 16 u32 length · 20 u32 zero
--   24 header, 64 bytes (absent when there is no chunk) · verdicts, u8 each · bytes of the chunk from `from` on
local function answer(status, now, header, length, verdicts, continued, from, bytes)
  return struct.pack("<BBI2I4dI4I4", status, continued, #verdicts, from, now, length, 0) .. header .. verdicts .. bytes
end
