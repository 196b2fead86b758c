import { PassThrough } from 'node:stream'
import { describe, expect, it, jest } from '@jest/globals'
import { startProgress } from './progress.ts'

/** What is written to a terminal, or to none. */
function stream(isTTY: boolean) {
  const written = Object.assign(new PassThrough(), { isTTY, columns: 120, rows: 40 })
  return {
    written: written as unknown as NodeJS.WriteStream,
    // Newer versions of Node give a chunk at a time.
    text: () => {
      let text = ''
      for (let chunk = written.read(); chunk !== null; chunk = written.read()) text += chunk
      return text
    },
  }
}

describe('progress', () => {
  it('is a bar with rate and time left in a terminal, and is removed at the end', () => {
    const { written, text } = stream(true)
    const progress = startProgress(written, 1000)
    progress.update(400, 12_345)
    progress.stop()
    const shown = text()
    expect(shown).toMatch(/█+░+ 40 %, 12,345 lines, [\d,]+ a second, \S+ left/)
    // The line is empty again, and the cursor back.
    expect(shown).toMatch(/\[2K|\[0K/)
    expect(shown.lastIndexOf('[?25h')).toBeGreaterThan(shown.lastIndexOf('40 %'))
  })

  it('shows no percentage if the total is unknown', () => {
    const { written, text } = stream(true)
    const progress = startProgress(written, undefined)
    progress.update(400, 12_345)
    progress.stop()
    const shown = text()
    expect(shown).toMatch(/12,345 lines, [\d,]+ a second/)
    expect(shown).not.toContain('%')
  })

  it('is an occasional line without a terminal', () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(10_000)
    const { written, text } = stream(false)
    const progress = startProgress(written, 1000)
    now.mockReturnValue(11_999)
    progress.update(100, 500)
    expect(text()).toBe('')
    now.mockReturnValue(12_000)
    progress.update(250, 1000)
    progress.update(260, 1100)
    progress.stop()
    now.mockRestore()
    expect(text()).toBe('1,000 lines, 25 %, 500 a second\n')
  })
})
