import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll } from '@jest/globals'
import { bundle } from '@sluice/test-harness/processes'

const folder = mkdtempSync(join(tmpdir(), 'sluice-module-'))
afterAll(() => rmSync(folder, { recursive: true }))

let written: Promise<string> | undefined

/** The URL of a bundle of module.ts, in JavaScript. */
async function write(): Promise<string> {
  const file = join(folder, 'module.mjs')
  writeFileSync(file, await bundle(join(__dirname, 'module.ts')))
  return JSON.stringify(pathToFileURL(file).href)
}

/**
 * Runs a module in a process of its own, with `createLimiter` and `memoryStore`; resolves with its
 * exit code and what it has written.
 *
 * @param imports false: only the URL of both, as `MODULE`
 * @param flags Node's flags
 */
export async function runModule(code: string, { imports = true, flags = [] as string[] } = {}) {
  written ??= write()
  const head = imports
    ? `import { createLimiter, memoryStore } from ${await written}\n`
    : `const MODULE = ${await written}\n`
  const child = spawn(process.execPath, [...flags, '--input-type=module', '--eval', head + code], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 50_000,
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const [exitCode] = await once(child, 'close')
  return { exitCode, output: output.trim() }
}
