import { render } from 'preact'
import { App } from './app.tsx'
import { askForTime, keepDrawing } from './traffic/clock.ts'
import { Session } from './traffic/session.ts'

async function start(): Promise<void> {
  // Without an answer the page tells what is wrong at the first request.
  await askForTime().catch(() => {})
  keepDrawing()
  render(<App session={new Session()} />, document.body)
}

void start()
