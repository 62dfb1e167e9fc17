local redis = (function()
  local server, declared, refused = redis, {}, { REFUSED }
  for _, key in ipairs(KEYS) do declared[key] = true end
  local without_keys = { TIME = 0, PUBLISH = 0 }
  local two_keys, all_keys = { RENAME = true, COPY = true }, { DEL = true, EXISTS = true, UNLINK = true }
  local function refusal_of(name, ...)
    name = string.upper(name)
    if refused[name] then return "ERR Unknown Redis command called from script" end
    if select("#", ...) + 1 > MAX_WORDS then return "ERR max number of arguments exceeded" end
    if not DECLARED_KEYS or without_keys[name] then return nil end
    local last = all_keys[name] and select("#", ...) or two_keys[name] and 2 or 1
    for i = 1, last do
      if not declared[(select(i, ...))] then return "ERR script tried accessing undeclared key" end
    end
  end
  return setmetatable({
    call = function(...)
      local refusal = refusal_of(...)
      if refusal then error({ err = refusal }) end
      return server.call(...)
    end,
    pcall = function(...)
      local refusal = refusal_of(...)
      if refusal then return { err = refusal } end
      return server.pcall(...)
    end,
  }, { __index = server })
end)()
