import { render } from 'preact'
import { App } from './app.tsx'
import { start } from './start.ts'
import { sendOverHttp } from './traffic/send.ts'

void start(sendOverHttp).then(({ session }) => {
  render(<App session={session} />, document.body)
})
