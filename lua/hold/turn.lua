-- The functions of the steps that change the state of a name while others hold it or wait. They are defined only then, because
-- each definition of a function costs as much as a read of a key. Twin: src/holds/steps/state.ts.
--
-- The state is one text:
--   HEAD                    last: the last number given · count, used: holds, and the permits of all of them · trials: holds
--                           on trial · first_end: no hold ends before · last_end: nor after, 0: there is none
--   HOLD and token          for each hold, in the order in which they were given
--   PLACE and token         for each waiter, in order of arrival
--
-- A waiter is served when its permits and those in use are at most its limit, and nobody waits before it. A lock has one permit
-- of one. A reader takes one of 2^32 - 1, a writer all of them.
-- A waiter of the calling process gets its hold in the reply. One of another process gets it on trial, for TRIAL_MS: a message on
-- the channel <key>:<process> says how many it has got, and its next `take` confirms them.
-- After a missed trial the waiters of all processes but the calling one lose their places, and get the message "lost". So dead
-- processes cost one trial together. Living ones ask again.
-- The key expires a week after the end of the last lease, so until then numbers rise even if the clock is set back.
-- @include hold/read-state
local function turn_functions(key, text, now, process)
  local trials, count, used, first_end, last_end, last, holds, places = 0, 0, 0, 0, 0, 0, "", ""
  local granted, grants_of, others, begun, is_changed = "", {}, {}, 0, false
  if text then
    local holds_end
    trials, count, used, first_end, last_end, last, holds_end = read_state(key, text)
    holds, places = string.sub(text, HEAD_BYTES + 1, holds_end), string.sub(text, holds_end + 1)
  end

  -- The first byte of the entry with this token.
  local function entry_of(entries, token, length)
    local found = string.find(entries, token, 1, true)
    while found do
      local first = found - length + TOKEN_LENGTH
      if first >= 1 and (first - 1) % length == 0 then return first end
      found = string.find(entries, token, found + 1, true)
    end
  end

  local function without(entries, first, length)
    is_changed = true
    return string.sub(entries, 1, first - 1) .. string.sub(entries, first + length)
  end

  local function tell(token, message)
    local its_process = string.sub(token, 1, PROCESS_LENGTH)
    if not grants_of[its_process] then
      others[#others + 1] = its_process
      grants_of[its_process] = 0
    end
    grants_of[its_process] = message or grants_of[its_process] + 1
  end

  local function add(token, permits, lease)
    local is_own = string.sub(token, 1, PROCESS_LENGTH) == process
    local ends = now + (is_own and lease or TRIAL_MS)
    last = math.max(last + 1, now * 1000)
    holds = holds .. struct.pack(HOLD, last, permits, ends, is_own and 0 or 1) .. token
    first_end, last_end = count == 0 and ends or math.min(first_end, ends), math.max(last_end, ends)
    count, used, is_changed = count + 1, used + permits, true
    if is_own then
      granted = granted .. struct.pack(GRANTED, last) .. token
    else
      trials, begun = trials + 1, begun + 1
      tell(token)
    end
  end

  -- Removes holds that have ended. True if one of them was on trial. A clock that was set back must not make a trial longer.
  local function sweep()
    if count == 0 or (first_end >= now and trials == 0) then return false end
    local kept, is_missed, least = {}, false, nil
    for at = 1, #holds, HOLD_LENGTH do
      local permits, ends, on_trial = struct.unpack(HOLD, holds, at)
      if ends < now or (on_trial == 1 and ends > now + TRIAL_MS) then
        is_missed = is_missed or on_trial == 1
        count, used, trials = count - 1, used - permits, trials - on_trial
      else
        kept[#kept + 1] = string.sub(holds, at, at + HOLD_LENGTH - 1)
        if not least or ends < least then least = ends end
      end
    end
    least = least or 0
    if least ~= first_end or #kept * HOLD_LENGTH < #holds then first_end, holds, is_changed = least, table.concat(kept), true end
    return is_missed
  end

  local function keep_own_places()
    local kept = {}
    for at = 1, #places, PLACE_LENGTH do
      local place = string.sub(places, at, at + PLACE_LENGTH - 1)
      local token = string.sub(place, PLACE_BYTES + 1)
      if string.sub(token, 1, PROCESS_LENGTH) == process then kept[#kept + 1] = place else tell(token, "lost") end
    end
    places = table.concat(kept)
  end

  -- Removes the token's hold, or its place. True if it had a hold.
  local function remove(token)
    local first = entry_of(holds, token, HOLD_LENGTH)
    if first then
      local permits, on_trial = struct.unpack(HOLD, holds, first)
      holds = without(holds, first, HOLD_LENGTH)
      count, used, trials = count - 1, used - permits, trials - on_trial
      if count == 0 then first_end = 0 end
      return true
    end
    first = entry_of(places, token, PLACE_LENGTH)
    if first then places = without(places, first, PLACE_LENGTH) end
    return false
  end

  -- Serves those that wait, in order.
  local function serve()
    if sweep() then keep_own_places() end
    local at = 1
    while at <= #places do
      local permits, limit, lease = struct.unpack(PLACE, places, at)
      if used + permits > limit then break end
      add(string.sub(places, at + PLACE_BYTES, at + PLACE_LENGTH - 1), permits, lease)
      at = at + PLACE_LENGTH
    end
    if at > 1 then places = string.sub(places, at) end
  end

  -- Confirms the hold of a ticket, grants it one, or gives it a place. A ticket is a place with its token.
  local function ask(ticket, may_wait)
    local permits, limit, lease = struct.unpack(PLACE, ticket)
    local token = string.sub(ticket, PLACE_BYTES + 1)
    local first = entry_of(holds, token, HOLD_LENGTH)
    if first then
      if string.find(granted, token, 1, true) then return end
      local number, its_permits, ends, on_trial = struct.unpack(HOLD, holds, first)
      granted = granted .. struct.pack(GRANTED, number) .. token
      if on_trial == 0 and ends >= now + lease then return end
      ends = math.max(ends, now + lease)
      trials, last_end, is_changed = trials - on_trial, math.max(last_end, ends), true
      if count == 1 then first_end = ends end
      holds = string.sub(holds, 1, first - 1) .. struct.pack(HOLD, number, its_permits, ends, 0) .. token
        .. string.sub(holds, first + HOLD_LENGTH)
    elseif places == "" and used + permits <= limit then
      add(token, permits, lease)
    elseif may_wait and #places < MAX_PLACES * PLACE_LENGTH and not entry_of(places, token, PLACE_LENGTH) then
      places, is_changed = places .. ticket, true
    end
  end

  -- Writes the state, sends the messages and returns the reply. If the user may not publish, waiters ask by themselves.
  local function save(must_write, is_released)
    if is_changed or must_write then
      local ends = string.format("%.0f", last_end + NUMBER_LIFE_MS)
      local state = struct.pack(HEAD, FORMAT, trials, count, used, first_end, count > 0 and last_end or 0, last) .. holds .. places
      if last_end > 0 then redis.call("SET", key, state, "PXAT", ends) else redis.call("SET", key, state, "KEEPTTL") end
    end
    for _, its_process in ipairs(others) do
      local message = grants_of[its_process]
      redis.pcall("PUBLISH", key .. ":" .. its_process, message == "lost" and message or string.format("%.0f", message))
    end
    local next_ms = trials > 0 and AFTER_TRIAL_MS or count > 0 and math.max(1, first_end - now + 1) or 0
    local is_alone = places == "" and count <= 1
    return struct.pack(ANSWER, is_released and 1 or 0, is_alone and 1 or 0, begun, next_ms) .. granted
  end

  return serve, ask, remove, save
end
