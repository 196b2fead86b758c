import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SITE } from '@sluice/ui/addresses'
import { HOME, LIVE, PAGES, type Page, pathOf, SECTIONS } from './pages.ts'
import { root } from './repository.ts'

const sourceOf = ({ file }: Page) => readFileSync(join(root, file), 'utf8')

/**
 * Writes what language models read, in the form of llmstxt.org: `llms.txt`, a line for each page and skill,
 * `llms-full.txt`, all pages as one text, and the skills of the packages.
 *
 * @param folder the folder of the built site
 */
export function writeForModels(folder: string): void {
  writeFileSync(join(folder, 'llms.txt'), listOfPages())
  writeFileSync(join(folder, 'llms-full.txt'), PAGES.map(asText).join('\n'))
  for (const { file, path } of skills())
    cpSync(dirname(join(root, file)), dirname(join(folder, path)), { recursive: true })
}

/** The skills of the packages, as files of the repository, and where the site has them. */
export function skills(): { readonly file: string; readonly path: string }[] {
  return readdirSync(join(root, 'packages'))
    .map((name) => `packages/${name}/skills/sluice-${name}/SKILL.md`)
    .filter((file) => existsSync(join(root, file)))
    .map((file) => ({ file, path: file.slice(file.indexOf('skills/')) }))
}

function skillLine({ file, path }: ReturnType<typeof skills>[number]): string {
  const [, name, about] = /^name: (.*)\ndescription: (.*)$/m.exec(
    readFileSync(join(root, file), 'utf8'),
  ) as RegExpExecArray
  return `- [${name}](${SITE}${path}): ${JSON.parse(about as string)}`
}

function listOfPages(): string {
  const [, about] = /^# .*\n\n(.+)\n/.exec(sourceOf(HOME)) as RegExpExecArray
  const sections = SECTIONS.map(({ title, pages }) => [`## ${title}`, '', ...pages.map(line)])
  const parts = [
    ['# Sluice', '', `> ${about}`],
    ...sections,
    ['## Optional', '', line(LIVE)],
    ['## Skills', '', ...skills().map(skillLine)],
  ]
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function line(page: Page): string {
  return `- [${page.title}](${SITE}${pathOf(page)}): ${page.summary}`
}

function asText(page: Page): string {
  return `<!-- ${SITE}${pathOf(page)} -->\n\n${sourceOf(page)}`
}
