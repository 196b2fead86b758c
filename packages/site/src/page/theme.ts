import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import { LiveLimiters } from './live-limiters.ts'
import '@sluice/ui/tokens.css'
import './site.css'
import './home.css'

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'doc-after': () => h(LiveLimiters) }),
}

export default theme
