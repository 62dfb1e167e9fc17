-- @include layouts/limiter
-- layouts/limiter.mjs has the records of the states. Each begins with STATE_HEAD, but the log of a sliding window.
-- `p` is a policy within a step: key, kind, cost, limit, span, rate, is_shadow, is_aligned, is_head. `look` adds blocked,
-- holds, used, and free: the permits left, below 0 after a penalty or a lowered limit.
-- Each kind has
--   quick(key, calls, cost, limit, span, rate, is_aligned, now) | fast path for one policy without blocks and reservations:
--                                       takes calls and returns passes, used, wait, reset; nil: use `look`
--   look(p, now)                      | reads the state; true: the edges of the caller's calendar window do not hold `now`
--   wait(p, permits, now)             | ms until the permits fit, if they do not fit now; math.huge: never
--   reset(p, now)                     | ms until all permits are free
--   put(p, calls, cost, now, token)   | takes calls * cost, even if they do not fit, and writes
--   back(p, permits, now)             | gives permits back, and writes
--   write(p, now)                     | writes the state
local kinds = {}

-- Returns the number of calls that pass if `fits` calls fit.
local function passes_of(calls, fit)
  if fit >= calls then return calls end
  return fit >= 1 and math.floor(fit) or 0
end

-- Lua prints large numbers as 1e+14. This prints all digits of whole milliseconds.
local function whole(number)
  return string.format("%.0f", number)
end

-- Same, with the last result cached, because it is usually the same for the next key.
local last_number, last_text
local function text_of(number)
  if number ~= last_number then last_number, last_text = number, whole(number) end
  return last_text
end

-- Foreign bytes never decide. Before the first write of a step this is a refusal.
local may_have_written = false
local function damaged(key, what)
  local text = 'the value of the key "' .. key .. '" is damaged: ' .. what
  error(may_have_written and { err = text } or { code = "CORRUPT", text = text })
end

local function is_whole(number)
  return number >= 0 and number <= MAX_NUMBER and number % 1 == 0
end

-- Reads the ends of a block and of reservations. An ended one is written as 0, which the fast path requires.
local function read_ends(p, blocked, holds, now)
  if not is_whole(blocked) or not is_whole(holds) then damaged(p.key, "the end of a block or reservation is not an integer") end
  p.blocked, p.holds = blocked > now and blocked or 0, holds > now and holds or 0
end

-- Reads the head of a state of at least `least` bytes. `text` is the reply of redis.pcall.
local function head_of(p, text, least, now)
  p.blocked, p.holds = 0, 0
  if type(text) == "table" then damaged(p.key, text.err) end
  p.there = text and text ~= ""
  if not p.there then return end
  if #text < least then damaged(p.key, #text .. " bytes are not the state of a limiter") end
  local format, kind, blocked, holds = struct.unpack(STATE_HEAD, text)
  if format ~= FORMAT then damaged(p.key, "it is not a limiter's state of format " .. FORMAT) end
  if kind ~= p.kind then damaged(p.key, "it is the state of another kind of policy") end
  read_ends(p, blocked, holds, now)
end

-- Returns the head of a state.
local function head_bytes(p)
  return struct.pack(STATE_HEAD, FORMAT, p.kind, p.blocked, p.holds)
end

-- Writes a whole state that matters until `ends`. Deletes an empty one.
local function keep(p, text, ends, now)
  ends = math.max(ends, p.blocked, p.holds)
  if ends > now then redis.call("SET", p.key, text, "PXAT", whole(ends))
  elseif p.there then redis.call("DEL", p.key) end
end
