-- One window for wrk: a fixed number of requests, each at its own time (`rate`) or one after the other (`clients`).
--
-- One connection a thread, so request and answer need no pairing. The next slot of the schedule goes to the first
-- connection that is free, as in one queue. What the plan says comes from a file, for it holds keys.
-- Two things must never happen: a flood without a schedule, and a request that is sent twice.

local ffi = require("ffi")

ffi.cdef [[
typedef struct { long s; long ns; } wb_time;
typedef struct { unsigned long soft; unsigned long hard; } wb_limit;
typedef struct { double free_us; double sent_us; double done_us; int32_t outcome; int32_t unused; } wb_slot;
typedef struct { double start_us; int32_t next; int32_t resolved; char lock[128] __attribute__((aligned(64))); char gate[128]; } wb_board;
int clock_gettime(int clock, wb_time *time);
int nanosleep(const wb_time *time, wb_time *left);
void *calloc(size_t count, size_t size);
void *memchr(const void *from, int byte, size_t size);
int open(const char *path, int flags, ...);
int64_t lseek(int file, int64_t offset, int whence);
void *mmap(void *at, size_t size, int protection, int flags, int file, int64_t offset);
int close(int file);
int getrlimit(int what, wb_limit *limit);
int setrlimit(int what, const wb_limit *limit);
int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);
int pthread_mutex_init(void *lock, const void *attributes);
int pthread_mutex_lock(void *lock);
int pthread_mutex_unlock(void *lock);
uintptr_t pthread_self(void);
int pthread_kill(uintptr_t thread, int number);
]]

local C = ffi.C
local IS_LINUX = ffi.os == "Linux"
local MONOTONIC = IS_LINUX and 1 or 6
local OPEN_FILES = IS_LINUX and 7 or 8
local TIMER_SLACK = 29
local SIGINT = 2
local LEAD_US, LEAD_A_THREAD_US = 100000, 500   -- from the last thread's birth to the first slot
local NEVER_MS = 86400000
local EARLY_MS = 2        -- wrk's timer counts whole milliseconds; the rest is slept here, to the microsecond
local PATIENT_REOPENINGS = 3
local IN_FLIGHT, BROKEN, LATE = -1, -2, -3

local clock, pause = ffi.new("wb_time"), ffi.new("wb_time")

local function now_us()
  C.clock_gettime(MONOTONIC, clock)
  return tonumber(clock.s) * 1e6 + tonumber(clock.ns) / 1e3
end

local function sleep_until(due_us)
  local left_us = due_us - now_us()
  while left_us > 0 do
    pause.s = math.floor(left_us / 1e6)
    pause.ns = math.floor(left_us % 1e6 * 1e3)
    C.nanosleep(pause, nil)
    left_us = due_us - now_us()
  end
end

local function read_plan()
  local path = assert(os.getenv("WEIGHBRIDGE_WRK_PLAN"), "no plan was given")
  local plan, head = {}, {}
  for line in assert(io.open(path)):lines() do
    local name, value = line:match("^(%w+)=(.*)$")
    if name == "head" then head[#head + 1] = value else plan[name] = value end
  end
  plan.head = table.concat(head, "\r\n")
  plan.rate, plan.timeout = tonumber(plan.rate), tonumber(plan.timeout)
  plan.count, plan.threads = assert(tonumber(plan.count)), assert(tonumber(plan.threads))
  return plan
end

local plan = read_plan()

-- What all threads share: the board, one record a slot, the lines of the bodies file. Only wrk's own state, which
-- makes the threads, allocates it; the others are told the addresses.

local function address_of(pointer) return tonumber(ffi.cast("uintptr_t", pointer)) end

local function allocate(kind, count) return ffi.cast(kind .. " *", C.calloc(count, ffi.sizeof(kind))) end

local function map_lines(path, wanted)
  local file = C.open(path, 0)
  local size = tonumber(C.lseek(file, 0, 2))
  if size < 1 then error(path .. " is empty or cannot be read") end
  local text = ffi.cast("char *", C.mmap(nil, size, 1, 2, file, 0))
  C.close(file)
  local starts, found, at = allocate("double", wanted + 1), 0, 0
  while found < wanted and at < size do
    local stop = C.memchr(text + at, 10, size - at)
    found = found + 1
    at = stop ~= nil and tonumber(ffi.cast("char *", stop) - text) + 1 or size + 1
    starts[found] = at
  end
  return text, starts, found
end

local function allow_open_files()
  local limit = ffi.new("wb_limit")
  if C.getrlimit(OPEN_FILES, limit) == 0 then
    limit.soft = limit.hard
    C.setrlimit(OPEN_FILES, limit)
  end
end

local threads, shared = {}, nil

local function share()
  local text, starts, lines = map_lines(plan.bodies, plan.count)
  local board = allocate("wb_board", 1)
  C.pthread_mutex_init(board.lock, nil)
  -- Shut until all threads are there: a thousand threads that looked again and again would keep the others from birth.
  C.pthread_mutex_init(board.gate, nil)
  C.pthread_mutex_lock(board.gate)
  return {
    board = board,
    slots = allocate("wb_slot", plan.count),
    addresses = { board_at = address_of(board), text_at = address_of(text), starts_at = address_of(starts) },
    lines = lines,
    main = tonumber(C.pthread_self()),
  }
end

function setup(thread)
  -- A thread whose script did not load would send as fast as it can.
  if thread:get("is_loaded") ~= true then error("the script was not loaded in every thread") end
  shared = shared or share()
  for name, address in pairs(shared.addresses) do thread:set(name, address) end
  thread:set("slots_at", address_of(shared.slots))
  thread:set("line_count", shared.lines)
  thread:set("main_thread", shared.main)
  threads[#threads + 1] = thread
  if #threads == plan.threads then
    shared.board.start_us = now_us() + LEAD_US + LEAD_A_THREAD_US * plan.threads
    C.pthread_mutex_unlock(shared.board.gate)
  end
end

-- One thread. `waiting` is the slot it holds and has not sent, `current` the one that is under way.

local board, slots, text, starts
local waiting, current, message, free_us
local is_asked, is_begun, reopened = false, false, 0

function init()
  board, slots = ffi.cast("wb_board *", board_at), ffi.cast("wb_slot *", slots_at)
  text, starts = ffi.cast("char *", text_at), ffi.cast("double *", starts_at)
end

local function due_us(slot) return board.start_us + (plan.rate and slot * 1e6 / plan.rate or 0) end

local function message_of(slot)
  local line = slot % line_count
  local body = ffi.string(text + starts[line], starts[line + 1] - starts[line] - 1)
  return plan.head .. "\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end

local function begin()
  is_begun = true
  if IS_LINUX then C.prctl(TIMER_SLACK, 1, 0, 0, 0) end
  C.pthread_mutex_lock(board.gate)
  C.pthread_mutex_unlock(board.gate)
end

-- Takes the next slot of the schedule; false, and the end of this thread, when none is left.
local function take()
  C.pthread_mutex_lock(board.lock)
  local slot = board.next
  if slot < plan.count then board.next = slot + 1 end
  C.pthread_mutex_unlock(board.lock)
  if slot >= plan.count then
    wrk.thread:stop()
    return false
  end
  free_us = now_us()
  waiting, message, reopened = slot, message_of(slot), 0
  return true
end

-- The one under way has its outcome. wrk would sleep its whole -d: the last outcome ends that.
local function resolve(outcome)
  slots[current].outcome = outcome
  current = nil
  C.pthread_mutex_lock(board.lock)
  board.resolved = board.resolved + 1
  local is_last = board.resolved == plan.count
  C.pthread_mutex_unlock(board.lock)
  if is_last then C.pthread_kill(main_thread, SIGINT) end
end

function delay()
  is_asked = true
  if not is_begun then begin() end
  if waiting then
    -- The server closed the idle connection. The timer of this slot still runs, so there is nothing to set; but a
    -- server that closes every connection at once would be connected to without end.
    reopened = reopened + 1
    if reopened >= PATIENT_REOPENINGS then sleep_until(due_us(waiting)) end
    return NEVER_MS
  end
  if not take() then return NEVER_MS end
  return math.max(0, math.floor((due_us(waiting) - now_us()) / 1000) - EARLY_MS)
end

function request()
  -- wrk looks at one request before the run; it is not sent.
  if not is_asked then return message_of(0) end
  if not waiting then
    -- The connection broke, and wrk wants to send the same again at once. That request has failed; what goes out
    -- instead is the next slot, when its time has come.
    if current then resolve(BROKEN) end
    if not take() then return "" end
  end
  sleep_until(due_us(waiting))
  current, waiting = waiting, nil
  local slot = slots[current]
  slot.free_us, slot.sent_us, slot.outcome = free_us, now_us(), IN_FLIGHT
  return message
end

function response(status)
  local done_us = now_us()
  if not current then return end
  local slot = slots[current]
  slot.done_us = done_us
  resolve(done_us - slot.sent_us > plan.timeout and LATE or status)
end

-- The report, by wrk's own state.

local function number(value)
  if value ~= value or value == math.huge or value == -math.huge then return "null" end
  return string.format("%.14g", value)
end

local function object(counts)
  local parts = {}
  for name, count in pairs(counts) do parts[#parts + 1] = string.format('"%s":%s', name, number(count)) end
  return "{" .. table.concat(parts, ",") .. "}"
end

local function write_samples(path)
  local file = assert(io.open(path, "w"))
  local start_us = shared.board.start_us
  local seen = { sent = 0, broken = 0, late = 0, answered = 0, status = {} }
  file:write("slot,scheduled_us,sent_us,done_us,status,free_us\n")
  for index = 0, plan.count - 1 do
    local slot = shared.slots[index]
    local status, done = slot.outcome, slot.done_us - start_us
    if status ~= 0 then seen.sent = seen.sent + 1 end
    if status == BROKEN then seen.broken = seen.broken + 1 end
    if status == LATE then seen.late = seen.late + 1 end
    if status > 0 then
      seen.answered = seen.answered + 1
      seen.status[status] = (seen.status[status] or 0) + 1
    elseif status < 0 then
      done = -1
    end
    if status ~= 0 and status ~= IN_FLIGHT then
      local due = plan.rate and index * 1e6 / plan.rate or 0
      file:write(string.format("%d,%.0f,%.0f,%.0f,%d,%.0f\n", index, due, slot.sent_us - start_us, done,
        math.max(status, 0), slot.free_us - start_us))
    end
  end
  file:close()
  return seen
end

local function times_of(latency, count)
  local times = { n = count, min = tonumber(latency.min), max = tonumber(latency.max), mean = latency.mean }
  for _, share in ipairs({ 50, 90, 99, 99.9 }) do times["p" .. share] = latency:percentile(share) end
  return times
end

function done(summary, latency)
  local seen = write_samples(plan.samples)
  local e = summary.errors
  local parts = {
    '"schema":"wrk-lua/1"',
    '"duration_us":' .. number(summary.duration),
    '"requests":' .. number(summary.requests),
    '"bytes":' .. number(summary.bytes),
    '"errors":' .. object({ connect = e.connect, read = e.read, write = e.write, status = e.status, timeout = e.timeout }),
    '"latency_us":' .. object(times_of(latency, math.max(0, seen.answered + seen.late - e.timeout))),
    '"status":' .. object(seen.status),
    string.format('"schedule":{"rate":%s,"n":%d,"threads":%d}', plan.rate and number(plan.rate) or "null",
      plan.count, plan.threads),
    string.format('"sent":%d,"resent":0', seen.sent),
    '"failed":' .. object({ broken = seen.broken, timeout = seen.late }),
    '"ends_when_done":true',
  }
  local part = plan.report .. ".part"
  local file = assert(io.open(part, "w"))
  file:write("{", table.concat(parts, ","), "}\n")
  file:close()
  assert(os.rename(part, plan.report))
end

-- Last of all: the address on wrk's command line leads nowhere, so that without what stands above nothing is sent.

allow_open_files()

function wrk.resolve()
  local found = wrk.lookup(plan.host, plan.port)
  wrk.addrs = { found[1] and wrk.connect(found[1]) and found[1] or nil }
end

is_loaded = true
