-- Who waits for a lock: one string of text, for each process one place, in order of arrival.
--   13 digits  until when the lock is promised to the first, ms; zeros: to nobody
--   13 digits  when a second one was called last, ms
--   each place: 16 characters, the process's id · 13 digits, when the place ends if it does not ask again, ms
local HEAD_LENGTH, ID_LENGTH, PLACE_LENGTH = 26, 16, 29

-- A time that stands in the text; whatever else stands there is met before the first write.
local function ms_in(key, text, from)
  local ms = tonumber(string.match(string.sub(text, from, from + 12), "^%d+$"))
  if not ms then
    error({ code = "CORRUPT", text = 'the value of the key "' .. key .. '" is damaged: it lists nobody who waits for a lock' })
  end
  return ms
end

local function digits(ms)
  return string.format("%013.0f", ms)
end

-- Of the key's text (nothing: nobody waits): when the promise ends, when the second was called, the places; those at
-- the front that have ended are left out, and a promise that a clock set back would make longer than any is none.
-- Last: whether that is the text as it stands, so that a change may be written in place.
local function read_queue(key, text, now)
  if not text then return 0, 0, "", false end
  local first = HEAD_LENGTH + 1
  local promised, called, is_as_read = ms_in(key, text, 1), ms_in(key, text, 14), true
  while first <= #text and ms_in(key, text, first + ID_LENGTH) < now do first = first + PLACE_LENGTH end
  if first > HEAD_LENGTH + 1 or promised > now + PROMISE_MS then promised, is_as_read = 0, false end
  return promised, called, string.sub(text, first), is_as_read
end

local function write_queue(key, promised, called, places, now)
  if places == "" then return redis.call("DEL", key) end
  redis.call("SET", key, digits(promised) .. digits(called) .. places, "PXAT", digits(now + PLACE_LIFE_MS))
end

local function without(places, id)
  local at = string.find(places, id, 1, true)
  if not at then return places end
  return string.sub(places, 1, at - 1) .. string.sub(places, at + PLACE_LENGTH)
end

-- The places with one more at the end, if there is room; who has one keeps it.
local function with(places, id, now)
  local at, ends = string.find(places, id, 1, true), digits(now + PLACE_LIFE_MS)
  if at then return string.sub(places, 1, at + ID_LENGTH - 1) .. ends .. string.sub(places, at + PLACE_LENGTH) end
  return #places < MOST_PLACES * PLACE_LENGTH and places .. id .. ends or places
end

-- The same, written; in place where it can be: each copy of a long text costs as much as a short call.
local function write_with(key, promised, called, places, is_as_read, id, now)
  if not is_as_read then return write_queue(key, promised, called, with(places, id, now), now) end
  local at, ends = string.find(places, id, 1, true), digits(now + PLACE_LIFE_MS)
  if at then
    redis.call("SETRANGE", key, HEAD_LENGTH + at + ID_LENGTH - 1, ends)
  elseif #places < MOST_PLACES * PLACE_LENGTH then
    redis.call("APPEND", key, id .. ends)
  end
  redis.call("PEXPIREAT", key, ends)
end
