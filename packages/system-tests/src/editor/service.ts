// What an editor knows of a program: TypeScript's language service, on the workspace's sources.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import type TypeScript from 'typescript5'

const ts = createRequire(__filename)('typescript5') as typeof TypeScript

/** The programs, by their files, which the disk does not have. */
const programs = new Map<string, string>()

const service = ts.createLanguageService({
  getCompilationSettings: () => ({
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    types: ['node'],
  }),
  getScriptFileNames: () => [...programs.keys()],
  getScriptVersion: (file) => programs.get(file) ?? '',
  getScriptSnapshot(file) {
    const text = programs.get(file) ?? ts.sys.readFile(file)
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
  },
  getCurrentDirectory: () => __dirname,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
  realpath: ts.sys.realpath,
})

/** A program in the editor. What is asked of it has `¦` where the cursor is. */
export class Editor {
  readonly #file: string

  constructor(name: string) {
    this.#file = join(__dirname, `${name}.mts`)
  }

  /** The names that it offers at the cursor. */
  offered(program: string): string[] {
    programs.set(this.#file, program.replace('¦', ''))
    const found = service.getCompletionsAtPosition(this.#file, program.indexOf('¦'), undefined)
    return (found?.entries ?? []).map(({ name }) => name)
  }

  /** What it shows of each of these options when they are written at the cursor, by their names, in one line. */
  hovers(program: string, names: readonly string[]): Record<string, string> {
    const written = names.map((name) => `${name}: undefined`).join(', ')
    programs.set(this.#file, program.replace('¦', written))
    const start = program.indexOf('¦')
    return Object.fromEntries(
      names.map((name) => {
        const at = start + ` ${written}`.indexOf(` ${name}: `)
        const info = service.getQuickInfoAtPosition(this.#file, at)
        return [name, ts.displayPartsToString(info?.documentation).replace(/\s+/g, ' ')]
      }),
    )
  }

  /** The first line of each message of the compiler. */
  problems(program: string): string[] {
    programs.set(this.#file, program)
    const found = service.getSemanticDiagnostics(this.#file)
    return found.map(
      ({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n').split('\n')[0] ?? '',
    )
  }
}
