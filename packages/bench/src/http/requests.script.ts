import { type FrameworkName, frameworks } from '../contenders/frameworks.ts'
import type { HttpContenders } from '../contenders/http.ts'
import { inject } from '../contenders/inject.ts'
import { defineContender } from '../processes/task.ts'

export interface RequestsTask {
  readonly framework: FrameworkName
  readonly contender: string
  /** CPU time of the process. */
  readonly warmUpMs: number
  readonly measuredMs: number
}

/** Requests between two looks at the CPU time. */
const STRETCH = 100
/** Requests that the engine needs at least before it has compiled what runs often. */
const WARM_UP = 10_000

/** Gives the CPU time of the process for one request, µs. Each has a turn of the event loop. */
defineContender(async ({ framework, contender, warmUpMs, measuredMs }: RequestsTask) => {
  const contenders: HttpContenders = frameworks[framework]
  const make = contenders[contender]
  if (make === undefined) throw new Error(`no contender ${contender}`)
  const listener = await make()
  const serve = async (forMs: number, atLeast: number) => {
    const begun = process.cpuUsage()
    let requests = 0
    let micros = 0
    while (micros < forMs * 1000 || requests < atLeast) {
      for (let i = 0; i < STRETCH; i += 1) {
        await new Promise((done) => setImmediate(() => inject(listener).then(done)))
      }
      requests += STRETCH
      const { user, system } = process.cpuUsage(begun)
      micros = user + system
    }
    return micros / requests
  }
  await serve(warmUpMs, WARM_UP)
  return () => serve(measuredMs, 0)
})
