import type { Page } from 'playwright-core'

/** @throws Error with the elements that stick out, where the page is wider than its window. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const width = page.viewportSize()!.width
  const outside = await page.evaluate((available) => {
    if (document.documentElement.scrollWidth <= available) return []
    const inside = (element: Element) => element.getBoundingClientRect().right <= available
    const wide = [...document.body.querySelectorAll('*')].filter((element) => !inside(element))
    const tags = wide.map((element) => (element.cloneNode() as Element).outerHTML)
    return tags.length > 0 ? tags : ['the page itself']
  }, width)
  if (outside.length > 0) throw new Error(`wider than ${width} px:\n${outside.join('\n')}`)
}
