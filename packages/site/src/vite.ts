import type { UserConfig } from 'vitepress'
import { correctSearch } from './accessible-search.ts'

/** Documents become components of Vue, which is installed here and not where they are. */
const vueOfSite: Plugin = {
  name: 'vue-of-site',
  enforce: 'pre',
  resolveId(id, importer, options) {
    if (!/^vue(\/|$)/.test(id) || !importer?.endsWith('.md')) return null
    return this.resolve(id, import.meta.filename, { ...options, skipSelf: true })
  },
}

/** The reader chooses light or dark with a button, which sets a class, instead of in the system. */
const darkByClass: Plugin = {
  name: 'dark-by-class',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/ui/src/tokens.css')) return null
    const dark = code.replace(
      '@media screen and (prefers-color-scheme: dark) {\n  :root {',
      '@media screen {\n  .dark {',
    )
    if (dark === code) throw new Error(`no dark colours in ${id}`)
    return dark
  },
}

const accessibleSearch: Plugin = {
  name: 'accessible-search',
  enforce: 'pre',
  transform: correctSearch,
}

/** Pages are rendered with it at build time, and nobody loads it: neither small nor live. */
const onlyForRendering: Plugin = {
  name: 'only-for-rendering',
  config: (_, { isSsrBuild }) => {
    if (!isSsrBuild) return {}
    return { build: { rollupOptions: { external: /^@sluice\/live\//, treeshake: false } } }
  },
}

type ViteConfig = NonNullable<UserConfig['vite']>
type Plugin = Extract<NonNullable<ViteConfig['plugins']>[number], { name: string }>

export const vite: ViteConfig = {
  plugins: [vueOfSite, darkByClass, accessibleSearch, onlyForRendering],
  // The live page is written with Preact.
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
}
