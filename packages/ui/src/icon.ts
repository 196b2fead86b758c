import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The mark of Sluice, as SVG. */
export const ICON = readFileSync(join(import.meta.dirname, 'icon.svg'), 'utf8')
