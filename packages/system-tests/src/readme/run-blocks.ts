// Runs programs one after the other in this process, as one reads a page from top to bottom, and
// prints which of them failed: JSON, { file: error }. Arguments: their files.
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'

async function runAll(files: readonly string[]): Promise<void> {
  const failures: Record<string, string> = {}
  for (const file of files) {
    try {
      await import(pathToFileURL(file).href)
    } catch (error) {
      failures[file] = inspect(error)
    }
  }
  // What the programs have opened, clients and servers, would keep the process.
  process.stdout.write(JSON.stringify(failures), () => process.exit(0))
}

void runAll(process.argv.slice(2))
