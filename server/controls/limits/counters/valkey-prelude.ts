/**
 * Helpers shared by the scripts of the Valkey counters. Each script is atomic, and all keys of a tenant share a hash tag, so that all
 * ancestors of a call are on one node. KEYS[1] is the tenant's prefix.
 *
 * Each tenant has a clock that advances no faster than the caller's monotonic clock and no faster than the server's, so a wall clock that
 * jumps on either side refills nothing. Holds are stored under the name of the owning process and count while its lease runs, so nothing
 * has to be swept when a process dies.
 */

export const PRELUDE = `
local P = KEYS[1]
local plan = cjson.decode(ARGV[1])
local owner = ARGV[2]
local t = redis.call('TIME')
local server = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
local function whole(n) return string.format('%.0f', n) end
local function steady(mine)
  local known = redis.call('HMGET', P .. 'clock', 's', 'c')
  local now = mine
  if known[1] then
    local c = tonumber(known[2])
    now = math.min(math.max(c, mine), c + math.max(0, server - tonumber(known[1])))
  end
  redis.call('HSET', P .. 'clock', 's', whole(server), 'c', whole(now))
  return now
end
local alive = {}
local function isAlive(name)
  if alive[name] == nil then
    local until_ = redis.call('ZSCORE', P .. 'owners', name)
    alive[name] = until_ and tonumber(until_) > server or false
  end
  return alive[name]
end
local function sum(key)
  local all = redis.call('HGETALL', key)
  local total = 0
  for i = 1, #all, 2 do
    if isAlive(all[i]) then total = total + tonumber(all[i + 1]) else redis.call('HDEL', key, all[i]) end
  end
  return total
end
local function bucket(b, now)
  local s = redis.call('HMGET', P .. 'b:' .. b.k, 'l', 'a')
  if not s[1] then return b.c end
  local passed = now - tonumber(s[2])
  local level = tonumber(s[1])
  if passed > 0 then level = level + passed * b.r / 60000 end
  return math.min(b.c, level)
end
local function putBucket(b, level, now)
  redis.call('HSET', P .. 'b:' .. b.k, 'l', string.format('%.9f', level), 'a', whole(now))
  redis.call('PEXPIRE', P .. 'b:' .. b.k, 172800000)
end
local function lock(b, now)
  local s = plan.s[b.s + 1]
  if s.d == 0 then return 0 end
  local key = P .. 'l:' .. s.k
  local known = redis.call('HMGET', key, 'u', 'b')
  local until_ = known[1] and tonumber(known[1]) or 0
  if until_ <= now then
    until_ = now + s.d
    redis.call('HSET', key, 'u', whole(until_), 'b', b.t)
    redis.call('PEXPIRE', key, whole(s.d + 3600000))
  end
  return until_ - now
end
-- What owners whose lease ends in so many milliseconds counted of a window for calls whose rows nobody has seen yet.
local function doubtful(key, ms)
  local total = 0
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', P .. 'owners', '-inf', whole(server + ms))) do
    local all = redis.call('HVALS', P .. 'x:' .. name)
    for _, entry in ipairs(all) do
      local of = cjson.decode(entry)[key]
      if of then total = total + of[1] end
    end
  end
  return total
end
local function epoch(w) return tonumber(redis.call('GET', P .. 'e:' .. w.k) or '0') end
local function begin(w) redis.call('SET', P .. 'e:' .. w.k, whole(w.n), 'PX', whole(w.x)) end
local function confirm(ids)
  for id in string.gmatch(ids, '[^,]+') do redis.call('HDEL', P .. 'x:' .. owner, id) end
end
local function remember(id, counted)
  local key = P .. 'x:' .. owner
  if not next(counted) then
    redis.call('HDEL', key, id)
    return
  end
  redis.call('HSET', key, id, cjson.encode(counted))
  redis.call('PEXPIRE', key, 172800000)
end
local function lease(ms)
  redis.call('ZADD', P .. 'owners', whole(server + ms), owner)
  redis.call('ZREMRANGEBYSCORE', P .. 'owners', '-inf', whole(server - 86400000))
end
`;
