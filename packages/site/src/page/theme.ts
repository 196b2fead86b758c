import { type Theme, useData } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import { ChosenTabs } from './chosen-tabs.ts'
import { LiveLimiters } from './live-limiters.ts'
import '@sluice/ui/tokens.css'
import './site.css'
import './home.css'

/** The version that the documentation is of. */
const Version = () => h('span', { class: 'version' }, `v${useData().theme.value.version}`)

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'nav-bar-title-after': () => h(Version),
      'doc-after': () => [h(LiveLimiters), h(ChosenTabs)],
    }),
}

export default theme
