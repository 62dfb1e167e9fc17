-- @include breaker/state
-- The probes of a circuit whose processes decide. Each that failed is one of its process. After it those go first whose probes
-- did not fail, a few at a time: so no process is always the first to ask.

-- A share exceeds a ratio if it is larger. No share is larger than 1, so a ratio of 1 is exceeded by a share of 1.
local function exceeds(share, ratio)
  return share > ratio or (ratio == 1 and share >= 1)
end

-- Notes that a process asks for a probe. Whatever the census said, it is one more than those whose probes failed.
local function note_asker(s, id)
  if s.last ~= "" and not find_entry(s.last, id, ID_BYTES) then s.callers = math.max(s.callers, #s.last / ID_BYTES + 1) end
end

-- Notes that a probe of a process failed. Returns whether the circuit opens. A process counts once in a round. Without a quorum,
-- every failed probe opens.
local function fails(s, r, id)
  if r.quorum > 1 then return true end
  if s.failed == 0 then s.last = "" end
  if not find_entry(s.last, id, ID_BYTES) then s.last, s.failed = s.last .. id, s.failed + 1 end
  s.ends = s.stamp
  return exceeds(s.failed / math.max(1, math.min(r.max_probes, s.callers)), r.quorum)
end

-- When a process may probe. After a failed probe the first turn is that of about one process, and each turn doubles their number.
-- One whose probe failed waits for a whole cooldown, unless it is the only one.
local function turn_of(s, r, id)
  if r.quorum > 1 or s.last == "" or s.callers <= 1 then return s.ends end
  if find_entry(s.last, id, ID_BYTES) then return s.ends + s.grown end
  local drawn, point = 0, s.epoch % DRAW_POINTS + FIRST_DRAW_POINT
  for i = 1, ID_BYTES do drawn = (drawn * point + string.byte(id, i)) % DRAW_MODULUS end
  local turn, share = 0, DRAW_MODULUS / math.max(1, s.callers - #s.last / ID_BYTES)
  while share < drawn do turn, share = turn + 1, share * 2 end
  return s.ends + math.floor(s.grown * turn / TURNS)
end
