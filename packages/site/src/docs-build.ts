// npm start -- site build
import { buildIfStale } from './build.ts'

await buildIfStale()
