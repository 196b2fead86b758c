import { resolve } from 'node:path'
import { SITE } from '@sluice/ui/addresses'

/** The folder of the workspace. */
export const root = resolve(import.meta.dirname, '../../..')

/** The path of the site on its host: the base of its links. */
export const BASE = new URL(SITE).pathname
