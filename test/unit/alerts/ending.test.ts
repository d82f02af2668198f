import { expect, test } from 'vitest'
import { finishAt, ruleOn, shippedRules } from '../../kit/alerts/sample-rules.ts'
import { labelsOf } from '../../../src/ledger/call.ts'
import { at, evaluatedTarget, pollAt } from './evaluated-target.ts'

test('ServiceErrors ends although a healthy service gets too few requests for a value', () => {
  const rule = shippedRules().find(({ name }) => name === 'ServiceErrors')!
  const target = evaluatedTarget([rule])
  const tick = (t: number, all: number, wrong: number) =>
    target.evaluate({ kind: 'tick', pollAge: 4, recent: { requests: () => ({ all, wrong }) } }, at(t))
  for (let t = 0; t <= 300; t += 15) tick(t, 40, 30)
  expect(target.kinds()).toEqual(['firing'])
  // Polls once a minute need fewer requests once none fails.
  for (let t = 315; t <= 86_400; t += 60) tick(t, 16, 0)
  expect(target.state('ServiceErrors')).toBe('inactive')
})

test('an alert on a type that is not documented ends when its rule fires below a threshold', () => {
  const started = { name: 'calls_finished', window: 900 } as const
  const above = ruleOn(started, { name: 'Calls', by: ['type'], threshold: 2 })
  const below = ruleOn(started, { name: 'Calls', by: ['type'], threshold: 1, breach: 'below' })
  const target = evaluatedTarget([above])
  const labels = labelsOf('other', 'call', 'user')
  const finished = Array.from({ length: 5 }, () => finishAt(at(0), 'ended', { labels }))
  target.evaluate(pollAt(at(0), { finished }), at(0))
  expect([...target.instances.keys()]).toEqual(['Calls{type="other"}'])
  target.reload([below])
  for (let t = 15; t <= 86_400; t += 15) {
    target.evaluate(
      pollAt(at(t), {
        finished: [finishAt(at(t), 'ended'), finishAt(at(t), 'ended', { labels: labelsOf('video', 'call', 'user') })],
      }),
      at(t),
    )
    target.tick(at(t + 7), 7)
  }
  expect([...target.instances.keys()]).toEqual([])
})
