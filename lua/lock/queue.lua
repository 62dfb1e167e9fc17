-- The queue of a lock: one text with a place for each waiting process, in order of arrival.
--   13 digits  end of the reservation for the first process, ms; zeros: none
--   13 digits  time of the last notice to a second process, ms
--   each place: 16 characters, the process's id · 13 digits, end of the place unless the process asks again, ms

-- Reads a time from the text. A damaged text is found before the first write.
local function ms_in(key, text, from)
  local ms = tonumber(string.match(string.sub(text, from, from + 12), "^%d+$"))
  if not ms then
    error({ code = "CORRUPT", text = 'the value of the key "' .. key .. '" is damaged: it is not a list of waiting processes' })
  end
  return ms
end

local function digits(ms)
  return string.format("%013.0f", ms)
end

-- Parses the key's text (nil: empty queue). Returns the end of the reservation, the time of the last second notice, the
-- places, and whether that is the text as stored, so that it may be changed in place. Drops ended places at the front, and a
-- reservation that a clock set back has made too long.
local function read_queue(key, text, now)
  if not text then return 0, 0, "", false end
  local first = HEAD_LENGTH + 1
  local reserved, noticed, is_as_read = ms_in(key, text, 1), ms_in(key, text, 14), true
  while first <= #text and ms_in(key, text, first + ID_LENGTH) < now do first = first + PLACE_LENGTH end
  if first > HEAD_LENGTH + 1 or reserved > now + RESERVATION_MS then reserved, is_as_read = 0, false end
  return reserved, noticed, string.sub(text, first), is_as_read
end

local function write_queue(key, reserved, noticed, places, now)
  if places == "" then return redis.call("DEL", key) end
  redis.call("SET", key, digits(reserved) .. digits(noticed) .. places, "PXAT", digits(now + PLACE_LIFE_MS))
end

local function without(places, id)
  local at = string.find(places, id, 1, true)
  if not at then return places end
  return string.sub(places, 1, at - 1) .. string.sub(places, at + PLACE_LENGTH)
end

-- Adds a place at the end, if there is room, or renews an existing one.
local function with(places, id, now)
  local at, ends = string.find(places, id, 1, true), digits(now + PLACE_LIFE_MS)
  if at then return string.sub(places, 1, at + ID_LENGTH - 1) .. ends .. string.sub(places, at + PLACE_LENGTH) end
  return #places < MAX_PLACES * PLACE_LENGTH and places .. id .. ends or places
end

-- Same, but writes the queue, in place if possible: a copy of a long text costs as much as a short call.
local function write_with(key, reserved, noticed, places, is_as_read, id, now)
  if not is_as_read then return write_queue(key, reserved, noticed, with(places, id, now), now) end
  local at, ends = string.find(places, id, 1, true), digits(now + PLACE_LIFE_MS)
  if at then
    redis.call("SETRANGE", key, HEAD_LENGTH + at + ID_LENGTH - 1, ends)
  elseif #places < MAX_PLACES * PLACE_LENGTH then
    redis.call("APPEND", key, id .. ends)
  end
  redis.call("PEXPIREAT", key, ends)
end
