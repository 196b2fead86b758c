#!/usr/bin/env node
import { endProcess, guardProcess } from '@sluice/terminal/command-line'
import { sluice } from './program.ts'

function interrupted(...signals: readonly NodeJS.Signals[]): AbortSignal {
  const interrupt = new AbortController()
  for (const signal of signals) process.once(signal, () => interrupt.abort())
  return interrupt.signal
}

// An asynchronous error in a user's function may quote the log too.
const unread = guardProcess('sluice')
endProcess('sluice', await sluice(process.argv.slice(2), { io: process, unread, interrupted }))
