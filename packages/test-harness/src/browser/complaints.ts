import type { BrowserContext } from 'playwright-core'

/**
 * Collects the faults of a context while it is open: errors in the console, errors of scripts, requests
 * to anywhere but the page's own origin (a page from a file: to anything but that file).
 *
 * @param statuses the statuses that are no fault here; the browser reports each as an error
 */
export function watch(
  context: BrowserContext,
  url: string,
  statuses: readonly number[],
): readonly string[] {
  const complaints: string[] = []
  const expected = statuses.map((status) => `responded with a status of ${status} `)
  context.on('console', (message) => {
    const text = message.text()
    if (message.type() !== 'error' || expected.some((part) => text.includes(part))) return
    complaints.push(`console: ${text}`)
  })
  context.on('weberror', (error) => complaints.push(`error: ${error.error().message}`))
  // Not by a route, which every request would have to wait for, and without a cache.
  context.on('request', (request) => {
    if (!isOwn(request.url(), url)) complaints.push(`request: ${request.url()}`)
  })
  return complaints
}

function isOwn(target: string, page: string): boolean {
  const { protocol, origin } = new URL(target)
  if (protocol === 'data:' || protocol === 'blob:') return true
  if (protocol === 'file:') return target === page
  return origin === new URL(page).origin
}
