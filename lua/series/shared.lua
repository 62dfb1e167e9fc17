-- @include layouts/series
-- The state of a question, and the answer after it. Bytes of another form count as none.
local function shared_at(key)
  local shared = redis.call("GET", key)
  if not shared or #shared < SHARED_BYTES or struct.unpack("<I4", shared) ~= FORMAT then
    return { publisher = 0, claimant = 0, as_of = 0, claim_end = 0, wanted = 0, expires = 0, answer = "" }
  end
  local publisher, claimant, as_of, claim_end, wanted, expires = struct.unpack(SHARED, shared)
  return {
    publisher = publisher, claimant = claimant, as_of = as_of, claim_end = claim_end, wanted = wanted, expires = expires,
    answer = string.sub(shared, SHARED_BYTES + 1),
  }
end

-- The key outlives the answer, so that processes that allow for a greater age find it.
local function store_shared(key, s, now, max_age)
  local expires = math.floor(now + math.min(2 * max_age, LONGEST_KEEP_MS) + 1)
  -- A later time than any answer is kept for is of a clock that was set back since.
  if s.expires <= now + LONGEST_KEEP_MS + 1 then expires = math.max(expires, s.expires) end
  local state = struct.pack(SHARED, FORMAT, s.publisher, s.claimant, s.as_of, s.claim_end, s.wanted, expires)
  redis.call("SET", key, state .. s.answer, "PXAT", string.format("%.0f", expires))
end
