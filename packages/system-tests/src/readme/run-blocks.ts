// Runs programs one after the other in this process, as one reads a page from top to bottom, and
// prints which of them failed: JSON, { file: error }. Arguments: their files. One that is called
// `server-…` starts a server that has to limit.
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import { nextServer } from './next-server.ts'
import { sendUntilRefused } from './send-until-refused.ts'

async function runAll(files: readonly string[]): Promise<void> {
  const failures: Record<string, string> = {}
  const redis = new Redis(process.env.REDIS_URL as string)
  for (const file of files) {
    try {
      // Each has an application of its own: limits of two would count in the same keys.
      await redis.flushall()
      await runOne(file)
    } catch (error) {
      failures[file] = inspect(error)
    }
  }
  // Clients and servers that the programs have opened would keep the process.
  process.stdout.write(JSON.stringify(failures), () => process.exit(0))
}

async function runOne(file: string): Promise<void> {
  // Whatever a program is called: another process may have the port that it names.
  const address = nextServer()
  await import(pathToFileURL(file).href)
  if (basename(file).startsWith('server-')) await sendUntilRefused(await address)
}

void runAll(process.argv.slice(2))
