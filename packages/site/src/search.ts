import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'
import { slug } from 'github-slugger'
import type { DefaultTheme } from 'vitepress'
import { TASKS } from './pages.ts'
import { root } from './repository.ts'

/** How often these words count: a section that only mentions them more often is no better answer. */
const WEIGHT = 3

/** The questions of readers, by the file that has the answer and the section in it; '' is the page itself. */
const wanted = new Map<string, Map<string, string[]>>()
const tasks = readFileSync(join(root, TASKS.file), 'utf8')
for (const [, text = '', path = '', anchor = ''] of tasks.matchAll(
  /^- \[(.+)\]\(([^#)]+)#?(.*)\)$/gm,
)) {
  const file = normalize(join(dirname(TASKS.file), path))
  const sections = wanted.get(file) ?? new Map<string, string[]>()
  wanted.set(file, sections.set(anchor, [...(sections.get(anchor) ?? []), text]))
}

/**
 * A document as the search reads it: behind each heading stand the words with which readers ask for its section.
 *
 * @param file the document: a path in the repository
 */
export function withWantedWords(file: string, markdown: string): string {
  const sections = wanted.get(file)
  if (sections === undefined) return markdown
  return markdown.replace(/^(#+) (.+)$/gm, (heading, level: string, title: string) => {
    const texts = sections.get(level === '#' ? '' : slug(title.replaceAll('`', '')))
    return texts === undefined
      ? heading
      : `${heading}\n\n${`${texts.join('. ')}. `.repeat(WEIGHT)}\n`
  })
}

/**
 * How the index and the questions are read: without the words that every question has, and without a plural's s.
 * VitePress passes the function to the page as text, so it stands alone.
 */
export const miniSearch: DefaultTheme.LocalSearchOptions['miniSearch'] = {
  options: {
    processTerm: (term) => {
      const word = term.toLowerCase()
      const isCommon =
        /^(a|an|and|are|as|at|be|by|can|do|does|for|from|get|give|have|how|i|if|in|is|it|its|make|me|more|my|need|no|not|of|on|one|or|our|own|set|so|some|than|that|the|their|them|there|they|this|to|up|use|using|want|we|what|when|where|which|who|why|will|with|without|you|your)$/
      if (isCommon.test(word)) return null
      return word.length > 3 ? word.replace(/s$/, '') : word
    },
  },
  searchOptions: {
    // Words of almost every page.
    boostTerm: (term) => (/^(rate|limit|limiter|limiting|request)$/.test(term) ? 0.4 : 1),
    // Lists of everything, and pages for contributors, come behind the guides.
    boostDocument: (id) =>
      /\/(errors|performance|i-want-to|packages\/test-suites)(#|$)/.test(`${id}`) ? 0.5 : 1,
  },
}
