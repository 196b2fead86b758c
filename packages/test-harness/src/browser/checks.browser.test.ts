import { expect, test } from '@jest/globals'
import { expectAccessible, expectNoSidewaysScroll, useBrowser } from './index.ts'

const browser = useBrowser()

const page = (body: string) =>
  `data:text/html,${encodeURIComponent(`<!doctype html>
<html lang="en"><meta name="viewport" content="width=device-width"><title>A page</title>
<body style="margin: 0"><main><h1>A page</h1>${body}</main>`)}`

test('a correct page passes', async () => {
  const opened = await browser.open(page('<button>Press</button>'), { device: 'phone' })
  await expectAccessible(opened)
  await expectNoSidewaysScroll(opened)
})

test('a button without a name is a finding of axe', async () => {
  const opened = await browser.open(page('<button></button>'))
  await expect(expectAccessible(opened)).rejects.toThrow(/button-name \(critical\)/)
})

test('text that can hardly be read is one', async () => {
  const opened = await browser.open(page('<p style="color: #ddd">faint</p>'))
  await expect(expectAccessible(opened)).rejects.toThrow(/color-contrast \(serious\)/)
})

test('what is wider than a phone is named', async () => {
  const opened = await browser.open(page('<hr style="width: 400px">'), { device: 'phone' })
  await expect(expectNoSidewaysScroll(opened)).rejects.toThrow(/wider than 360 px:\n<hr/)
})

test('the page follows the light and the dark scheme', async () => {
  for (const scheme of ['light', 'dark'] as const) {
    const opened = await browser.open(page(''), { scheme })
    const dark = await opened.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)
    expect(dark).toBe(scheme === 'dark')
  }
})
