import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf } from '@sluice/terminal/say'
import { UsageError } from '@sluice/terminal/usage-error'

/**
 * The default export of a module in TypeScript or JavaScript, or the value of a JSON file.
 *
 * @param flag the flag that names the file, for messages
 * @throws UsageError
 */
export async function loadModule(flag: string, file: string): Promise<unknown> {
  const path = resolve(file)
  try {
    if (file.endsWith('.json')) return JSON.parse(readFileSync(path, 'utf8'))
    // The compiler is large, and most runs load no module.
    const { createJiti } = await import('jiti')
    return await createJiti(pathToFileURL(path).href).import(path, { default: true })
  } catch (error) {
    throw new UsageError(`${flag}: ${file} can't be loaded: ${messageOf(error)}`)
  }
}
