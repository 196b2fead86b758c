import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const LIMITER = JSON.stringify(join(__dirname, '../../../limiter/create-limiter.ts'))
const STORE = JSON.stringify(join(__dirname, '../memory-store.ts'))

/**
 * Runs a module in a process of its own, with `createLimiter` and `memoryStore`; resolves with its
 * exit code and what it has written.
 *
 * @param imports false: only the path of the first one's file, as `LIMITER`
 * @param flags for Node
 */
export async function runModule(code: string, { imports = true, flags = [] as string[] } = {}) {
  const head = imports
    ? `import { createLimiter } from ${LIMITER}\nimport { memoryStore } from ${STORE}\n`
    : `const LIMITER = ${LIMITER}\n`
  const child = spawn(
    process.execPath,
    [...flags, '--import', 'tsx', '--input-type=module', '--eval', head + code],
    { stdio: ['ignore', 'pipe', 'inherit'], timeout: 50_000 },
  )
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const [exitCode] = await once(child, 'close')
  return { exitCode, output: output.trim() }
}
