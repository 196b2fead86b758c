import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of the repository. */
export const root = join(__dirname, '../../..')

/**
 * The files of the repository that match, committed or not. Files that Git ignores are left out:
 * other tests write programs beside their sources, and remove them while this one runs.
 * @param patterns pathspecs of Git, relative to the repository, such as `docs/*.md`
 */
export function filesOf(...patterns: string[]): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...patterns]
  const list = execFileSync('git', args, { cwd: root, encoding: 'utf8' })
  return list.split('\n').filter((file) => file !== '' && existsSync(join(root, file)))
}
