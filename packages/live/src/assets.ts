import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from '@sluice/ui/bundle'
import { ICON } from '@sluice/ui/icon'

/** A file as it is sent. */
export interface Asset {
  /** Media type. */
  readonly type: string
  readonly body: string
}

/** The page's files by path: its script and its style are bundled in memory, nothing is written. */
export function buildAssets(): ReadonlyMap<string, Asset> {
  const page = join(import.meta.dirname, 'page')
  const read = (file: string) => readFileSync(join(page, file), 'utf8')
  const { script, style } = bundle(join(page, 'main.tsx'), join(page, 'main.css'))
  return new Map([
    ['/', { type: 'text/html', body: read('index.html') }],
    ['/icon.svg', { type: 'image/svg+xml', body: ICON }],
    ['/main.js', { type: 'text/javascript', body: script }],
    ['/main.css', { type: 'text/css', body: style }],
  ])
}
