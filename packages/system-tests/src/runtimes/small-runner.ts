import type { Runner } from '@sluice/test-suites'

/** How long a test may take, ms. */
const WITHIN = 30_000

/** A test runner for Bun and Deno. */
export class SmallRunner implements Runner {
  readonly #titles: string[] = []
  readonly #tests: (readonly [name: string, run: () => unknown])[] = []
  readonly #isLeftOut: (title: string) => boolean

  constructor(isLeftOut: (title: string) => boolean = () => false) {
    this.#isLeftOut = isLeftOut
  }

  readonly describe = (title: string, define: () => void): void => {
    this.#titles.push(title)
    define()
    this.#titles.pop()
  }

  readonly test = (title: string, run: () => unknown): void => {
    if (!this.#isLeftOut(title)) this.#tests.push([[...this.#titles, title].join(' › '), run])
  }

  /** Runs the tests one after the other. It prints what fails, and at last how many passed. */
  async run(): Promise<void> {
    let passed = 0
    for (const [title, run] of this.#tests) {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`takes longer than ${WITHIN} ms`)), WITHIN)
      })
      try {
        await Promise.race([run(), late])
        passed += 1
      } catch (error) {
        console.log(`FAILED ${title}\n${error instanceof Error ? error.stack : error}`)
      } finally {
        clearTimeout(timer)
      }
    }
    console.log(`${passed} passed, ${this.#tests.length - passed} failed`)
  }
}
