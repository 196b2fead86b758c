// Finds a browser for the tests of pages.

import { findExecutable } from './executable.mjs'

/** The path of a Chromium or Chrome. Ends the process if there is none. */
export const findChromium = () =>
  findExecutable({
    variable: 'CHROMIUM',
    names: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'],
    advice:
      'The tests of pages need Chromium: install chromium-headless-shell (apt) or chromium (dnf, brew)',
  })
