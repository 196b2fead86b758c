import assert from 'node:assert/strict'

/** The end of a window, while this runs, gives a client a unit back, or a few. */
const MORE = 5

/** Checks that a server admits as many requests as its fields say, and then refuses. */
export async function sendUntilRefused(url: string): Promise<void> {
  const first = await fetch(url)
  assert.equal(first.status, 200, await first.text())
  const [, quota] = /;q=(\d+)/.exec(first.headers.get('RateLimit-Policy') ?? '') ?? []
  const statuses = [first.status]
  while (statuses.at(-1) === 200 && statuses.length < Number(quota) + MORE) {
    const response = await fetch(url)
    statuses.push(response.status)
    await response.arrayBuffer()
  }
  assert.equal(statuses.at(-1), 429, `not refused after ${statuses.length} requests`)
  assert.ok(statuses.length > Number(quota), `refused request ${statuses.length} of ${quota}`)
}
