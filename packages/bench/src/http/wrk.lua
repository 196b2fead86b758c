-- Tells what wrk has counted, as JSON.
--
-- With an argument each connection waits before each request, that many ms on average, with the
-- gaps of a Poisson process: a load that does not depend on how fast the server is.

function init(args)
  if args[1] == nil then return end
  local mean = tonumber(args[1])
  math.randomseed(os.time())
  function delay()
    return math.floor(-math.log(1 - math.random()) * mean + 0.5)
  end
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format(
    '\n{"requests":%d,"seconds":%f,"failed":%d,"p50Ms":%f,"p99Ms":%f}\n',
    summary.requests, summary.duration / 1e6, failed,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000
  ))
end
