import { hash } from '#platform'
import type { Connection } from './connection.ts'

/**
 * One Lua program. Nothing of it is kept on the client or stored ahead of time: a server that has
 * lost it receives it again with the very call that finds out.
 */
export class Script {
  readonly text: string
  readonly sha: string

  constructor(text: string) {
    this.text = text
    this.sha = hash('sha1', text, 'utf8', 'hex')
  }

  /**
   * Runs it, by its digest where the server has it. `NOSCRIPT` says that nothing was executed, so
   * it is safe to send it whole then; after any other error it might count twice.
   */
  run<T>(
    connection: Connection,
    keys: string[],
    args: string[],
    read: (reply: unknown) => T,
    fail: (error: unknown) => never,
  ): Promise<T> {
    return connection.evalsha(this.sha, keys, args).then(read, (error: unknown) => {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) return fail(error)
      return connection.eval(this.text, keys, args).then(read, fail)
    })
  }
}
