import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'

test('a warning is one of Node, once for each code, however often it is given', async () => {
  const module = pathToFileURL(join(__dirname, 'warning.ts')).href
  const script = `
    import { warnOnce } from ${JSON.stringify(module)}
    process.on('warning', ({ name, code, message }) => console.log([name, code, message].join('|')))
    warnOnce('SLUICE_SETTLE', 'first')
    setImmediate(() => {
      warnOnce('SLUICE_SETTLE', 'again')
      warnOnce('SLUICE_KEY_KIND', 'other')
    })`
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--no-warnings',
    ...['--import', 'tsx', '--input-type=module', '--eval', script],
  ])
  expect(stdout.trim().split('\n')).toEqual([
    'SluiceWarning|SLUICE_SETTLE|first (SLUICE_SETTLE, https://sluicejs.github.io/sluice/errors#sluice_settle)',
    'SluiceWarning|SLUICE_KEY_KIND|other (SLUICE_KEY_KIND, https://sluicejs.github.io/sluice/errors#sluice_key_kind)',
  ])
})
