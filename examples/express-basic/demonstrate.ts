/** Says what to try, and sends seven requests to show it: five are admitted, two refused. */
export async function demonstrate(url: string, where: string): Promise<void> {
  console.log(`Sluice limits ${url} to 5 requests per 10 s, counted in ${where}.\n`)
  for (let i = 1; i <= 7; i += 1) {
    const response = await fetch(url)
    const limit = response.headers.get('ratelimit')
    const retry = response.headers.get('retry-after')
    const wait = retry === null ? '' : `  Retry-After: ${retry}`
    console.log(`request ${i}: ${response.status}  RateLimit: ${limit}${wait}`)
    await response.arrayBuffer()
  }
  console.log(`\nTry it yourself:  curl -i ${url}\nStop with Ctrl-C.`)
}
