import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Redis } from 'ioredis'
import { type FrameworkName, frameworks } from '../contenders/frameworks.ts'
import type { HttpContenders } from '../contenders/http.ts'

export interface ServerTask {
  readonly framework: FrameworkName
  readonly contender: string
  /** Of the Redis that the limiter counts on; in memory without it. */
  readonly url?: string
}

/** Answers to whoever started it: first its port, then its CPU time whenever it is asked, µs. */
export type ServerMessage = { readonly port: number } | { readonly cpuMicros: number }

const { framework, contender, url } = JSON.parse(process.argv[2] as string) as ServerTask
const contenders: HttpContenders = frameworks[framework]
const serve = contenders[contender]
if (serve === undefined) throw new Error(`no contender ${contender}`)

process.once('disconnect', () => process.exit())
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  tell({ cpuMicros: user + system })
})

const server = await serve(url === undefined ? undefined : new Redis(url))
if (!server.listening) await once(server, 'listening')
tell({ port: (server.address() as AddressInfo).port })

function tell(message: ServerMessage): void {
  process.send?.(message)
}
