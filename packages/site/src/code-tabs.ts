import { type Form, formsOf } from './code-forms.ts'

/** The names of the file that the start pages call `server.mjs`. */
const FILES: Readonly<Record<string, string>> = {
  ESM: 'server.mjs',
  CommonJS: 'server.cjs',
  TypeScript: 'server.mts',
}

/**
 * Gives each block of a document that has several forms a tab for each, in the notation of VitePress. Where the
 * document names the file of a block, each tab does.
 */
export function withTabs(markdown: string): string {
  const block = /^(`server\.mjs`:\n\n)?```(\w+)\n(.*?)^```$/gms
  return markdown.replace(block, (text, file, language, code) => {
    const forms = formsOf(language, code)
    if (forms.length === 0) return text
    const tabs = forms.map((form) => tab(form, file === undefined ? '' : `: ${FILES[form.label]}`))
    return `::: code-group\n${tabs.join('')}:::`
  })
}

function tab({ language, label, code }: Form, file: string): string {
  return `\`\`\`${language} [${label}${file}]\n${code}\`\`\`\n`
}
