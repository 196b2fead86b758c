export { expectAccessible } from './accessible.ts'
export { picture } from './picture.ts'
export { expectNoSidewaysScroll } from './sideways.ts'
export { type Browsing, type OpenOptions, useBrowser } from './use-browser.ts'
