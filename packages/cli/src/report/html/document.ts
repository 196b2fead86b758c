import { createHash } from 'node:crypto'
import { type Html, html, Html as Markup } from './html.ts'
import { page } from './page.built.ts'

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** A whole page, which may run and look as its own script and style say, and reach nothing else. */
export function documentOf(title: string, body: Html): string {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(page.script)}`,
    `style-src ${hashOf(page.style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="sluice replay">
<title>${title}</title>
<style>${new Markup(page.style)}</style>
</head>
<body>
${body}
<script>${new Markup(page.script)}</script>
</body>
</html>
`.markup
}
