// node diagnose.mjs TYPESCRIPT PROJECTS: what this version of TypeScript finds in each of the projects, a JSON
// array of what a tsconfig.json has: in their files, in declarations of @sluice, and of neither. It prints an
// array of lines for each. The command would check all that they import too, the declarations of others or
// the workspace's sources, which takes five times as long: nobody reads what it finds in the first, and users
// never compile the second.

import { createRequire } from 'node:module'
import { argv, cwd } from 'node:process'

const [, , path, projects] = argv
const ts = createRequire(import.meta.url)(path)

function problemsIn(project) {
  const { fileNames, options, errors } = ts.parseJsonConfigFileContent(project, ts.sys, cwd())
  const program = ts.createProgram(fileNames, options)
  const roots = new Set(fileNames)
  const ours = program
    .getSourceFiles()
    .filter(({ fileName }) => roots.has(fileName) || fileName.includes('node_modules/@sluice/'))
  const found = ours.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ])
  const general = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()]
  return [...errors, ...general, ...found].map((each) =>
    ts.formatDiagnostic(each, {
      getCurrentDirectory: cwd,
      getCanonicalFileName: (name) => name,
      getNewLine: () => '\n',
    }),
  )
}

console.log(JSON.stringify(JSON.parse(projects).map(problemsIn)))
