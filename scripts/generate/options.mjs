// docs/options.md and the interfaces of options, from the table of options.

import { optionInterfaces } from './option-table/interfaces.mjs'
import { optionsPage } from './option-table/page.mjs'

export const options = () => [['docs/options.md', optionsPage()], ...optionInterfaces()]
