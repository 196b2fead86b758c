import { existsSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { describeUnless } from '../jest/index.ts'
import { whyNoMysql } from './binary.ts'
import { startMysql } from './server.ts'

test('without a server there is one line that says how to get it', () => {
  const reason = whyNoMysql({ MYSQL_SERVER: '/nonexistent/mariadbd' })
  expect(reason).toMatch(/^MYSQL_SERVER is \/nonexistent\/mariadbd, .*$/)
})

describeUnless(whyNoMysql(), 'a server', () => {
  test('starts again after it was killed, and leaves nothing', async () => {
    const server = await startMysql()
    const [, folder = ''] = /socket: '(.*)\/socket'/.exec(server.log()) ?? []
    expect(folder).toContain('sluice-mysql-')
    await server.kill()
    expect(existsSync(folder)).toBe(true)
    await server.restart()
    await server.stop()
    expect(existsSync(folder)).toBe(false)
  })

  test('that can not start leaves nothing', async () => {
    const { message } = await startMysql(['no-such-setting=1']).catch((error) => error)
    expect(message).toContain('no-such-setting')
    const [, folder = ''] = /(\/\S*sluice-mysql-[^/\s']+)/.exec(message) ?? []
    expect(existsSync(folder)).toBe(false)
  })
})
