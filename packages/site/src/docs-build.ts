// npm run docs -- build
import { buildIfStale } from './build.ts'

await buildIfStale()
