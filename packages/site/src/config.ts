import { slug } from 'github-slugger'
import { type DefaultTheme, defineConfig } from 'vitepress'
import { REPOSITORY, SITE } from './addresses.generated.ts'
import { deadLinks } from './dead-links.ts'
import { writeForModels } from './llms.ts'
import { linksOnSite } from './markdown.ts'
import { HOME, LIVE, PAGES, type Page, pathOf, SECTIONS, sourceAsServed } from './pages.ts'
import { BASE, root } from './repository.ts'
import { vite } from './vite.ts'

const names = PAGES.flatMap(({ file }) => /^packages\/([^/]+)/.exec(file)?.[1] ?? [])

/** What is no page of the site. */
const otherDocuments = [
  '*.md',
  '!(docs|packages)/**',
  `packages/!(${names.join('|')})/**`,
  'packages/*/*/**',
]

const link = (page: Page) => `/${pathOf(page)}`

const sidebar: DefaultTheme.SidebarItem[] = SECTIONS.map(({ title, pages }) => ({
  text: title,
  items: pages.map((page) => ({ text: page.title, link: link(page) })),
}))

const nav: DefaultTheme.NavItem[] = [
  ...SECTIONS.filter(({ title }) => title !== 'Packages').map(({ title, pages }) => {
    const [first] = pages as [Page]
    const prefix = /^[^/]+\//.exec(pathOf(first))?.[0]
    return {
      text: title.split(' ')[0] as string,
      link: link(first),
      activeMatch: prefix && `^/${prefix}`,
    }
  }),
  { text: LIVE.title, link: link(LIVE) },
]

/** Renders for the search without the colours of code, which take longer than all the rest. */
const renderForSearch: DefaultTheme.LocalSearchOptions['_render'] = (source, env, md) =>
  md.set({ highlight: undefined }).render(source, env)

/** The pages without a sidebar, with their class. */
const wide: Record<string, string> = { [HOME.file]: 'home', [LIVE.file]: 'live' }

export default defineConfig({
  lang: 'en',
  title: 'Sluice',
  description: 'Rate limiting for Node’s HTTP servers',
  base: BASE,
  cleanUrls: true,
  srcDir: root,
  srcExclude: otherDocuments,
  rewrites: Object.fromEntries(PAGES.map((page) => [page.file, sourceAsServed(page)])),
  markdown: {
    anchor: { slugify: slug },
    config: linksOnSite,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  vite,
  sitemap: { hostname: SITE },
  themeConfig: {
    nav,
    sidebar,
    search: { provider: 'local', options: { _render: renderForSearch } },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    editLink: { pattern: `${REPOSITORY}/edit/main/:path`, text: 'Edit this page' },
    outline: { level: [2, 3] },
  },
  buildEnd({ outDir }) {
    const dead = deadLinks(outDir, SITE)
    if (dead.length > 0) throw new Error(`links that lead nowhere:\n${dead.join('\n')}`)
    writeForModels(outDir)
  },
  transformPageData({ filePath, frontmatter }) {
    const pageClass = wide[filePath]
    if (pageClass !== undefined)
      Object.assign(frontmatter, { pageClass, sidebar: false, aside: false, editLink: false })
  },
})
