import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'

/** A folder for the files of a test, gone when its tests are. */
export function scratch(): {
  folder: string
  file(name: string, content: string | Buffer): string
} {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return {
    folder,
    file(name, content) {
      const path = join(folder, name)
      writeFileSync(path, content)
      return path
    },
  }
}
