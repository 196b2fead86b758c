import { once } from 'node:events'
import { start } from '../processes/run-task.ts'
import type { ServerMessage, ServerTask } from './server.script.ts'

/** A server in a process of its own. */
export interface RunningServer {
  readonly url: string
  /** Of its process since its start. */
  cpuMicros(): Promise<number>
  stop(): Promise<void>
}

export async function startServer(task: ServerTask): Promise<RunningServer> {
  const child = start('server', task)
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with ${code}: ${JSON.stringify(task)}`)
  })
  ended.catch(() => {})
  const answer = async () => {
    const [message] = await Promise.race([once(child, 'message'), ended])
    return message as ServerMessage
  }
  const first = await answer()
  if (!('port' in first)) throw new Error('a server tells its port first')
  return {
    url: `http://127.0.0.1:${first.port}/`,
    async cpuMicros() {
      const answered = answer()
      child.send('cpu')
      const message = await answered
      if (!('cpuMicros' in message)) throw new Error('a server tells its port once')
      return message.cpuMicros
    },
    async stop() {
      const exited = once(child, 'exit')
      child.kill()
      await exited
    },
  }
}
