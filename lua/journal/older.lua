-- @include layouts/journal
-- @include journal/chunk
-- Of a reply of read or append on the open chunk: the reply, and behind it the closed chunks that a window needs, as far
-- as they are found, so that who holds nothing asks once.
--   0 u32 bytes of the reply · 4 the reply · and where its status is 0 and there is a chunk: u32 1 where the next chunk
--   is not there, else 0 · u32 how many chunks · their bytes, u32 each · the chunks, newest first
-- `reach`: f64 span, ms · f64 from, ms · u32 most bytes. The window begins at `from`, or `span` before the series' now,
-- whichever is earlier; of chunks, the open one among them, no more than so many bytes are read.
-- These keys are not declared: their numbers stand in the open chunk. All lie in its slot. What is not found may be on
-- another node; a server may refuse to look: the walk then ends, and the reader asks for the rest by name. It believes no
-- chunk whose birth is not the one that the next chunk names. Nothing is written here.
local function with_older(reply, key, now, reach)
  local size, sizes, chunks = struct.pack(SIZED, #reply), {}, {}
  local length = struct.unpack(ANSWER, reply)
  if string.byte(reply) ~= 0 or length == 0 then return size .. reply end
  local span, from, max_bytes = struct.unpack(LOOKBACK, reach)
  local clock, number, created, birth_before, last, latest = struct.unpack(CHUNK, reply, ANSWER_BYTES + 1)
  from = math.min(from, (clock == 1 and latest or math.max(now, last)) - span)
  local missing = 0
  while birth_before ~= 0 and (clock == 1 and latest or created + EARLY_MS) >= from - DEDUPE_MS
    and #chunks < MAX_CLOSED_CHUNKS do
    number = number - 1
    local closed = key .. ":" .. whole(number)
    local bytes = redis.pcall("STRLEN", closed)
    if type(bytes) ~= "number" then break end
    if bytes == 0 then missing = 1 break end
    length = length + bytes
    if bytes < CHUNK_BYTES or length > max_bytes then break end
    local chunk = redis.call("GET", closed)
    sizes[#sizes + 1] = struct.pack("<I4", bytes)
    chunks[#chunks + 1] = chunk
    created, birth_before, latest = struct.unpack(CHUNK, chunk)
  end
  return size .. reply .. struct.pack(CLOSED_CHUNKS, missing, #chunks) .. table.concat(sizes) .. table.concat(chunks)
end
