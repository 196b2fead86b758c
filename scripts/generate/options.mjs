// The pages of options and the interfaces of options, from the table of options.

import { optionInterfaces } from './option-table/interfaces.mjs'
import { optionPages } from './option-table/page.mjs'

export const options = () => [...optionPages(), ...optionInterfaces()]
