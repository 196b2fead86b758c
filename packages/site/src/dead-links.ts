import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Parser } from 'htmlparser2'

/** A page of the built site. */
interface Page {
  readonly anchors: ReadonlySet<string>
  readonly links: readonly string[]
}

/**
 * The links of a built site to its own pages, anchors and files that lead nowhere.
 *
 * @param folder the folder of the built site
 * @param site where it is published, with a slash at the end
 * @returns one line for each: the page and the link
 */
export function deadLinks(folder: string, site: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const pages = new Map(
    names
      .filter((name) => name.endsWith('.html'))
      .map((name) => [name, parse(readFileSync(join(folder, name), 'utf8'))]),
  )
  return [...pages].flatMap(([name, { links }]) =>
    links
      .filter((link) => !leadsSomewhere(new URL(link, site + name)))
      .map((link) => `${name}: ${link}`),
  )

  function leadsSomewhere(url: URL): boolean {
    if (!url.href.startsWith(site)) return url.origin !== new URL(site).origin
    const path = decodeURI(url.pathname.slice(new URL(site).pathname.length))
    const file = [path, `${path}.html`, join(path, 'index.html')].find(isFile)
    if (file === undefined) return false
    const anchor = decodeURIComponent(url.hash.slice(1))
    return anchor === '' || pages.get(file)?.anchors.has(anchor) === true
  }

  function isFile(path: string): boolean {
    const file = join(folder, path)
    return existsSync(file) && statSync(file).isFile()
  }
}

function parse(html: string): Page {
  const anchors = new Set<string>()
  const links: string[] = []
  const parser = new Parser({
    onopentag(_, { id, href, src, srcset }) {
      if (id !== undefined) anchors.add(id)
      for (const link of [href, src, srcset]) if (link !== undefined) links.push(link)
    },
  })
  parser.end(html)
  return { anchors, links }
}
