-- Reads the head of a state (lua/hold/turn.lua), and the place of the last byte of the holds. A damaged text is found before the
-- first write.
-- @include layouts/hold
local function read_state(key, text)
  if string.byte(text, 1) == FORMAT and #text >= HEAD_BYTES then
    local trials, count, used, first_end, last_end, last = struct.unpack(HEAD, text)
    local holds_end = HEAD_BYTES + count * HOLD_LENGTH
    if #text >= holds_end and (#text - holds_end) % PLACE_LENGTH == 0 and last >= 0 and last < MAX_NUMBER then
      return trials, count, used, first_end, last_end, last, holds_end
    end
  end
  error({ code = "CORRUPT", text = 'the value of the key "' .. key .. '" is damaged: it is not the state of a hold' })
end
