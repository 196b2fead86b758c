import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { REPOSITORY, SITE } from '@sluice/ui/addresses'
import { ICON } from '@sluice/ui/icon'
import { slug } from 'github-slugger'
import { type DefaultTheme, defineConfigWithTheme } from 'vitepress'
import { deadLinks } from './dead-links.ts'
import { writeForModels } from './llms.ts'
import { asOnSite, colouredToTheEnd } from './markdown.ts'
import { HOME, LIVE, PAGES, type Page, pathOf, SECTIONS, sourceAsServed } from './pages.ts'
import { BASE, root } from './repository.ts'
import { miniSearch, withWantedWords } from './search.ts'
import { CARD, socialTags } from './social-tags.ts'
import { vite } from './vite.ts'

const names = PAGES.flatMap(({ file }) => /^packages\/([^/]+)/.exec(file)?.[1] ?? [])

/** The documents that are no pages of the site. */
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
  ...SECTIONS.flatMap(({ short, pages }) => {
    const [first] = pages as [Page]
    const prefix = /^[^/]+\//.exec(pathOf(first))?.[0]
    if (short === undefined) return []
    return { text: short, link: link(first), activeMatch: prefix && `^/${prefix}` }
  }),
  { text: LIVE.title, link: link(LIVE) },
]

/** Renders for the search without the colours of code, which take longer than all the rest. */
const renderForSearch: DefaultTheme.LocalSearchOptions['_render'] = (source, env, md) =>
  md
    .set({ highlight: undefined })
    .render(
      withWantedWords(relative(root, env.path), source),
      Object.assign(env, { isForSearch: true }),
    )

/** The pages without a sidebar, with their class. */
const wide: Record<string, string> = { [HOME.file]: 'home', [LIVE.file]: 'live' }

const summaries = new Map(PAGES.map(({ file, summary }) => [file, summary]))

/** The version of the packages, which all have the same. */
const { version } = JSON.parse(readFileSync(join(root, 'packages/core/package.json'), 'utf8')) as {
  version: string
}

export default defineConfigWithTheme<DefaultTheme.Config & { readonly version: string }>({
  lang: 'en',
  title: 'Sluice',
  description: 'Rate limiting for Node’s HTTP servers',
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `${BASE}icon.svg` }],
    ['meta', { name: 'theme-color', content: '#2e58ca' }],
  ],
  base: BASE,
  cleanUrls: true,
  srcDir: root,
  srcExclude: otherDocuments,
  rewrites: Object.fromEntries(PAGES.map((page) => [page.file, sourceAsServed(page)])),
  markdown: {
    anchor: { slugify: slug },
    config: asOnSite,
    codeTransformers: [colouredToTheEnd],
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  vite,
  sitemap: { hostname: SITE },
  themeConfig: {
    version,
    logo: '/icon.svg',
    nav,
    sidebar,
    search: { provider: 'local', options: { _render: renderForSearch, miniSearch } },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    editLink: { pattern: `${REPOSITORY}/edit/main/:path`, text: 'Edit this page' },
    outline: { level: [2, 3] },
  },
  buildEnd({ outDir }) {
    writeFileSync(join(outDir, 'icon.svg'), ICON)
    copyFileSync(join(root, 'docs/images', CARD), join(outDir, CARD))
    const dead = deadLinks(outDir, SITE)
    if (dead.length > 0) throw new Error(`links that lead nowhere:\n${dead.join('\n')}`)
    writeForModels(outDir)
  },
  transformHead({ page, title, description }) {
    return page === '404.md'
      ? []
      : socialTags(page.replace(/(^|\/)index\.md$|\.md$/, ''), title, description)
  },
  transformPageData({ filePath, frontmatter }) {
    const pageClass = wide[filePath]
    if (pageClass !== undefined)
      Object.assign(frontmatter, {
        pageClass,
        sidebar: false,
        aside: false,
        outline: false,
        editLink: false,
      })
    // The first page has that of the site.
    return filePath === HOME.file ? {} : { description: summaries.get(filePath) }
  },
})
