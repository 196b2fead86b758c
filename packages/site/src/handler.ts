import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import sirv from 'sirv'

/**
 * Serves a built site as GitHub Pages does: below its base, pages without `.html`.
 *
 * @param folder the folder of the built site
 * @param base path of the site, with slashes around it
 */
export function handler(folder: string, base: string): RequestListener {
  const files = sirv(folder, { extensions: ['html'] })
  const notFound = readFileSync(join(folder, '404.html'))
  return (request, response) => {
    const { url = '/' } = request
    if (!url.startsWith(base)) {
      response.writeHead(302, { Location: base }).end()
      return
    }
    request.url = url.slice(base.length - 1)
    files(request, response, () => {
      response.writeHead(404, { 'Content-Type': 'text/html; charset=utf-8' }).end(notFound)
    })
  }
}
