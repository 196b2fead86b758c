// Writes the documents of a folder from its results. A process of its own: what it imports is ESM
// only, which Jest can't load.

import { readResults, writeDocuments } from '../documents.ts'

const root = process.argv[2] as string
writeDocuments(readResults(root), root)
