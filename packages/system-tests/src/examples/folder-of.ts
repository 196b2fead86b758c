import { join } from 'node:path'

/** The folder of an example. */
export function folderOf(example: string): string {
  return join(__dirname, '../../../../examples', example)
}
