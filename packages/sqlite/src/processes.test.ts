// Real processes and threads on one file: together they admit the limit, exactly.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/core'
import { describeUnless, scratch } from '@sluice/test-harness/jest'
import { bundle, runInProcesses, startBundle } from '@sluice/test-harness/processes'
import { patient, until } from '@sluice/test-harness/redis'
import { sqliteDriver, whyNoSqlite } from '@sluice/test-harness/sqlite'
import { type Driver, ownDriver } from './driver.ts'
import { sqliteStore } from './index.ts'
import type { Work } from './testing/workers/work.ts'

type Counts = Record<string, number>

const COUNT = 8
const keys = ['a', 'b', 'c']
const { folder } = scratch()
const workerFile = (name: string) => `${__dirname}/testing/workers/${name}.ts`

function sums(counts: readonly Counts[]): number[] {
  return keys.map((key) => counts.reduce((sum, each) => sum + (each[key] ?? 0), 0))
}

describeUnless(whyNoSqlite(), 'SQLite', () => {
  test('eight processes that ask for 300 get 100', async () => {
    const work: Work = { path: `${folder}/processes.db`, times: 38, keys }
    const counts = await runInProcesses<Counts>(workerFile('process'), COUNT, work)
    expect(sums(counts)).toEqual([100, 100, 100])
  })

  test('eight worker threads that ask for 300 get 100', async () => {
    const code = `${folder}/thread.mjs`
    writeFileSync(code, await bundle(workerFile('thread')))
    const workerData: Work = { path: `${folder}/threads.db`, times: 38, keys }
    const threads = Array.from({ length: COUNT }, () => new Worker(code, { workerData }))
    try {
      await Promise.all(threads.map((thread) => once(thread, 'message')))
      const counts = threads.map((thread) => once(thread, 'message'))
      for (const thread of threads) thread.postMessage('go')
      expect(sums((await Promise.all(counts)).flat())).toEqual([100, 100, 100])
    } finally {
      await Promise.all(threads.map((thread) => thread.terminate()))
    }
  })

  test('processes that are killed at any time lose no answered decision, and leave a whole file', async () => {
    const path = `${folder}/killed.db`
    const code = await bundle(workerFile('endless'))
    let admitted = 0
    const start = (): ChildProcess => {
      const child = startBundle(code, { args: [JSON.stringify({ path })], stderr: 'pipe' })
      child.on('message', ({ type }: { type: string }) => {
        if (type === 'ready') child.send('go')
        if (type === 'admitted') admitted += 1
      })
      return child
    }
    const children = [start(), start()]
    const killed = 10
    for (let i = 0; i < killed; i += 1) {
      const goal = admitted + 20 + 7 * i
      await until(() => admitted >= goal, { everyMs: 1, what: 'they are admitted' })
      const child = children.shift() as ChildProcess
      const closed = once(child, 'close')
      child.kill('SIGKILL')
      await closed
      children.push(start())
    }
    const ended = children.map((child) => once(child, 'close'))
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(ended)

    const limiter = createLimiter({
      ...patient,
      store: sqliteStore(path, { driver: sqliteDriver() }),
      limit: 1_000_000_000,
      window: '1d',
    })
    const { remaining } = await limiter.peek('client')
    const counted = 1_000_000_000 - remaining
    // Each that was killed may not have told of its last one.
    expect(counted).toBeGreaterThanOrEqual(admitted)
    const Database = (sqliteDriver() as Driver | undefined) ?? ownDriver()
    const check = new Database(path).prepare('PRAGMA integrity_check').get()
    expect(Object.values(check as object)).toEqual(['ok'])
  })
})
