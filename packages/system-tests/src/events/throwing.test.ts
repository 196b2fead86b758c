// What a subscriber throws does not affect the request that it hears of.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'

test('a request is answered although every subscriber throws, and Node reports the errors', async () => {
  const program = `
    import { subscribe } from 'node:diagnostics_channel'
    import express from 'express'
    import { rateLimit } from '@sluice/express'
    const names = ['sluice:decision', 'sluice:ban', 'sluice:settle', 'sluice:threshold', 'tracing:sluice:consume:start']
    for (const name of names) subscribe(name, () => { throw new Error(name) })
    const reported = new Set()
    process.on('uncaughtException', ({ message }) => reported.add(message))
    const app = express()
    const ban = { after: 1, within: '1h', for: ['1m'] }
    app.use(rateLimit({ limit: 2, window: '1d', cost: 2, settle: () => 1, ban, alertAt: [1] }))
    app.get('/', (_, response) => response.end())
    const server = app.listen(0, '127.0.0.1', async () => {
      const url = 'http://127.0.0.1:' + server.address().port
      const statuses = []
      while (statuses.length < 2) statuses.push((await fetch(url)).status)
      while (reported.size < 5) await new Promise(setImmediate)
      console.log(JSON.stringify({ statuses, reported: [...reported].sort() }))
      server.closeAllConnections()
      server.close()
    })`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: __dirname })
  expect(JSON.parse(stdout)).toEqual({
    statuses: [200, 429],
    reported: [
      'sluice:ban',
      'sluice:decision',
      'sluice:settle',
      'sluice:threshold',
      'tracing:sluice:consume:start',
    ],
  })
})
