import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SITE } from './addresses.generated.ts'
import { HOME, LIVE, PAGES, type Page, pathOf, SECTIONS } from './pages.ts'
import { root } from './repository.ts'

const sourceOf = ({ file }: Page) => readFileSync(join(root, file), 'utf8')

/**
 * Writes what language models read, in the form of llmstxt.org: `llms.txt`, a line for each page,
 * and `llms-full.txt`, all pages as one text.
 *
 * @param folder the folder of the built site
 */
export function writeForModels(folder: string): void {
  writeFileSync(join(folder, 'llms.txt'), listOfPages())
  writeFileSync(join(folder, 'llms-full.txt'), PAGES.map(asText).join('\n'))
}

function listOfPages(): string {
  const [, about] = /^# .*\n\n(.+)\n/.exec(sourceOf(HOME)) as RegExpExecArray
  const sections = SECTIONS.map(({ title, pages }) => [`## ${title}`, '', ...pages.map(line)])
  const parts = [['# Sluice', '', `> ${about}`], ...sections, ['## Optional', '', line(LIVE)]]
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function line(page: Page): string {
  return `- [${page.title}](${SITE}${pathOf(page)}): ${page.summary}`
}

function asText(page: Page): string {
  return `<!-- ${SITE}${pathOf(page)} -->\n\n${sourceOf(page)}`
}
