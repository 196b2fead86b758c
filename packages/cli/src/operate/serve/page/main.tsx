import { render } from 'preact'
import { App } from './app.tsx'
import { Operations } from './operations.ts'

const operations = new Operations()
render(<App operations={operations} />, document.body)
operations.start()
