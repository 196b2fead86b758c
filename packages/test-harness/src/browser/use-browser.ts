import { afterAll, afterEach, beforeAll } from '@jest/globals'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { watch } from './complaints.ts'
import { launch } from './launch.ts'

export interface OpenOptions {
  /** Default: light. */
  readonly scheme?: 'light' | 'dark'
  /** Desktop: 1280 × 900 px. Phone: 360 × 740 px, by touch. Default: desktop. */
  readonly device?: 'desktop' | 'phone'
  /** Default: true. */
  readonly javaScript?: boolean
  /** Statuses of responses that the page expects, such as 429. Default: none. */
  readonly statuses?: readonly number[]
}

export interface Browsing {
  /** Opens the URL in a profile of its own, in English and in UTC, without animations. */
  open(url: string | URL, options?: OpenOptions): Promise<Page>
}

const DEVICES = {
  desktop: { viewport: { width: 1280, height: 900 } },
  phone: {
    viewport: { width: 360, height: 740 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
  },
}

interface Visit {
  readonly context: BrowserContext
  readonly complaints: readonly string[]
}

/**
 * A headless Chromium for the tests of a file. After each test its pages are closed; the test fails
 * if one of them reported an error or asked for anything beyond its own origin.
 */
export function useBrowser(): Browsing {
  let browser: Browser
  let visits: Visit[] = []

  beforeAll(async () => {
    browser = await launch()
  })

  afterEach(async () => {
    const ended = visits
    visits = []
    for (const { context } of ended) await context.close()
    const complaints = ended.flatMap((visit) => visit.complaints)
    if (complaints.length > 0) throw new Error(`the page was not clean:\n${complaints.join('\n')}`)
  })

  afterAll(() => browser?.close())

  return {
    async open(address, options = {}) {
      const { scheme = 'light', device = 'desktop', javaScript = true, statuses = [] } = options
      const context = await browser.newContext({
        ...DEVICES[device],
        colorScheme: scheme,
        javaScriptEnabled: javaScript,
        locale: 'en-GB',
        timezoneId: 'UTC',
        reducedMotion: 'reduce',
      })
      const url = new URL(address).href
      visits.push({ context, complaints: watch(context, url, statuses) })
      const page = await context.newPage()
      await page.goto(url)
      return page
    },
  }
}
