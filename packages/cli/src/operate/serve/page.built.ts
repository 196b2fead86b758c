// The build runs this module and publishes what it exports in its place, so that esbuild is needed
// only where the sources are.

import { join } from 'node:path'
import { type Bundle, bundle } from '@sluice/ui/bundle'
import { ICON } from '@sluice/ui/icon'

const folder = join(import.meta.dirname, 'page')

/** The script, the style sheet and the icon of the page. */
export const page: Bundle & { readonly icon: string } = {
  ...bundle(join(folder, 'main.tsx'), join(folder, 'operators.css')),
  icon: ICON,
}
