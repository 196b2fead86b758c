import { relative, sep } from 'node:path'
import { PICTURES } from '@sluice/ui/addresses'
import type { MarkdownOptions } from 'vitepress'
import { withTabs } from './code-tabs.ts'
import { onSite } from './links.ts'
import { root } from './repository.ts'
import { markTables } from './tables.ts'

/** The state of VitePress while it renders a document. */
interface Environment {
  readonly path: string
  /** The path of the source, only where the page has another. */
  readonly realPath?: string
  /** Rendered for the search, where each block is found once. */
  readonly isForSearch?: true
}

/** The document: a path in the repository. */
function sourceOf(environment: unknown): string {
  const { path, realPath = path } = environment as Environment
  return relative(root, realPath).split(sep).join('/')
}

/**
 * Colours every line to its end. By default, a line that takes longer than half a second keeps the colour that it
 * had reached: the first line of the site is one, since the grammar is compiled for it.
 */
export const colouredToTheEnd: NonNullable<MarkdownOptions['codeTransformers']>[number] = {
  preprocess(_, options) {
    options.tokenizeTimeLimit = 0
  },
}

/**
 * Makes the links between files those of the site, loads its pictures from itself, and gives code that readers
 * use in several forms a tab for each.
 */
export const asOnSite: NonNullable<MarkdownOptions['config']> = (md) => {
  md.core.ruler.before('normalize', 'pictures-of-site', (state) => {
    const up = '../'.repeat(sourceOf(state.env).split('/').length - 1)
    state.src = state.src.replaceAll(PICTURES, up)
  })
  md.core.ruler.before('normalize', 'tabs', (state) => {
    if (!(state.env as Environment).isForSearch) state.src = withTabs(state.src)
  })
  markTables(md)
  md.core.ruler.push('links-on-site', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type !== 'link_open') continue
      token.attrSet('href', onSite(sourceOf(env), token.attrGet('href') as string))
    }
  })
}
