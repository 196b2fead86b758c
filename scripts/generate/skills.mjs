// The skill of each published package: one page in the form of https://agentskills.io, for agents that write
// code with the package. When to use it and what to know is written there; the rest is filled in, the program from the
// README.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { published, SITE } from '../addresses.mjs'
import { root } from '../workspace.mjs'

/** The rules for every adapter. */
const EVERY_ADAPTER = `## In every framework

- Set \`limit\` and \`window\`, or \`policies: [{ name, limit, window }]\`. Write windows as text with a unit, \`'15m'\`: a number is milliseconds.
- Create the limiter once, when the application starts, never in a handler.
- Without a \`store\`, each process counts in its own memory. To share counts, pass the Redis client itself as \`store\`, not a URL or a promise; or \`postgresStore(pool)\`, or \`sqliteStore(path)\`.
- Give each limiter on a shared store its own \`prefix\`, such as \`prefix: 'login'\`.
- Behind a proxy, name it: \`trustProxy: ['loopback', '10.0.0.0/8']\`. Otherwise all clients share one quota.
- With \`key: 'user'\`, run the limiter after authentication. Never take a key or a limit from unverified input of the client.
- A refusal is a 429 with \`Retry-After\` and problem+json. \`respond\` sends another body; \`dryRun: true\` refuses nothing.`

const ADAPTERS = ['express', 'fastify', 'koa', 'hono', 'elysia', 'nest', 'node']

/** The name of a package's skill, which is that of its folder too. */
const nameOf = (name) => `sluice-${name}`

export const skills = () =>
  published.map((name) => {
    const file = `packages/${name}/skills/${nameOf(name)}/SKILL.md`
    return [file, skill(name, readFileSync(join(root, file), 'utf8'))]
  })

/** @param written the page as it is */
function skill(name, written) {
  const folder = join(root, 'packages', name)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const readme = readFileSync(join(folder, 'README.md'), 'utf8')
  const [when] = /Use it when .*\."$/m.exec(written)
  const [known] = /^## What to know\n.*?(?=\n\n## )/ms.exec(written) ?? []
  const parts = [
    `---\nname: ${nameOf(name)}\ndescription: "${manifest.description}. ${when}\nlicense: ${manifest.license}\n---`,
    '<!-- "npm run generate" fills in all but when to use it, and what to know. -->',
    `# ${manifest.name}`,
    `${manifest.description}.`,
    ...usage(manifest, readme),
    ...(known === undefined ? [] : [known]),
    ...(ADAPTERS.includes(name) ? [EVERY_ADAPTER] : []),
    `## Everything else

Its [README](${manifest.homepage}), [options](${SITE}options), [recipes](${SITE}recipes), and all pages in <${SITE}llms.txt>. Messages have a code and end with the [address](${SITE}errors) that explains it.`,
  ]
  return `${parts.join('\n\n')}\n`
}

/** How to install it, and the first program of the README; of a command the first commands. */
function usage({ name, exports }, readme) {
  const [commands] = /^```sh\n.*?^```$/ms.exec(readme) ?? []
  if (exports === undefined) return [`## Use it\n\n${commands}`]
  const [program] = /^```(?:js|ts)(?: \w+)?\n.*?^```$/ms.exec(readme)
  return [
    `## Install it\n\n${commands ?? `\`\`\`sh\nnpm install ${name}\n\`\`\``}`,
    `## Use it\n\n${program}`,
  ]
}
