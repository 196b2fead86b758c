// Loaded before a measured command: prints what it took, on the last line of standard error.

import { resourceUsage, stderr } from 'node:process'

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = resourceUsage()
  const cpu = (userCPUTime + systemCPUTime) / 1e6
  stderr.write(`\n${JSON.stringify({ cpu, rss: (maxRSS * 1024) / 1e6 })}\n`)
})
