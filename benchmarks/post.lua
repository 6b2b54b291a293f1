-- One chat request, sent again and again; the result as one line of JSON.
function init(args)
  local file = assert(io.open(args[1], "rb"))
  wrk.method = "POST"
  wrk.body = file:read("*a")
  wrk.headers["content-type"] = "application/json"
  file:close()
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('\n{"request_count": %d, "wall_us": %d, "error_count": %d, "p50_us": %d, "p99_us": %d}\n',
    summary.requests, summary.duration, e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50), latency:percentile(99)))
end
