-- @include window/law
-- @include window/chunk
-- What append, read and rotate answer (src/window/answer.ts reads it):
--   0 u8 status · 1 u8 continued · 2 u16 verdicts · 4 u32 from · 8 f64 now · 16 u32 length · 20 u32 zero
--   24 header, 64 bytes (absent when there is no chunk) · verdicts, u8 each · bytes of the chunk from `from` on
-- `known` is "" when no bytes are wanted, else what the caller holds of this chunk:
--   0 f64 number · 8 u32 birth · 12 u32 length · 16 u32 place of the last frame header (0: none) · 20 that header
-- Bytes go on from the known length if number, birth and that frame header still stand; else they begin at 0.
local function answer(key, status, now, header, length, verdicts, known)
  local continued, from, bytes = 0, 0, ""
  if known ~= "" and header ~= "" then
    local number, birth, held, place = struct.unpack("<dI4I4I4", known)
    local _, _, _, _, is_number, _, is_birth = struct.unpack(header_layout, header)
    if number == is_number and birth == is_birth and held <= length
      and (place == 0 or redis.call("GETRANGE", key, place, place + 15) == string.sub(known, 21)) then
      continued, from = 1, held
    end
    if from < length then
      bytes = redis.call("GETRANGE", key, from, from + page_bytes - 1)
    end
  end
  return struct.pack("<BBI2I4dI4I4", status, continued, #verdicts, from, now, length, 0) .. header .. verdicts .. bytes
end
