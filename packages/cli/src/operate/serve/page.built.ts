// The build runs this module and publishes what it exports in its place, so that esbuild is needed
// only where the sources are.

import { join } from 'node:path'
import { type Bundle, bundle } from '@sluice/ui/bundle'

const folder = join(import.meta.dirname, 'page')

/** The script and the style sheet of the page. */
export const page: Bundle = bundle(join(folder, 'main.tsx'), join(folder, 'operators.css'))
