// node --import register.mjs: a program that a test starts takes the installed packages too.

import { register } from 'node:module'

register('./hooks.mjs', import.meta.url)
