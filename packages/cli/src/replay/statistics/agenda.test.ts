import { expect, it } from '@jest/globals'
import { Agenda } from './agenda.ts'

it('what is on it happens when its time has come, in the order of time', () => {
  const happened: [number, string][] = []
  const agenda = new Agenda<string>((atMs, value) => happened.push([atMs, value]))
  agenda.add(900, 'last')
  agenda.add(120, 'second')
  agenda.add(0, 'first')
  agenda.runUntil(500)
  expect(happened.splice(0)).toEqual([
    [0, 'first'],
    [120, 'second'],
  ])
  agenda.runUntil(899)
  expect(happened).toEqual([])
  agenda.runUntil(900)
  expect(happened).toEqual([[900, 'last']])
})
