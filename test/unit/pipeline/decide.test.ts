import { expect, test } from 'vitest'
import { decide } from '../../../src/pipeline/decide.ts'
import { ruleOn } from '../../kit/alerts/sample-rules.ts'
import { completePoll, CREATED, ledgerBook, seen } from '../../kit/ledger/seen.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'

test('a poll is evaluated with the recordings that it has just seen, of calls that ended earlier or now', () => {
  const book = ledgerBook()
  const early = (hasRecording: boolean) => seen('early', 'ended', { endedAt: CREATED + 5, hasRecording })
  book.see(completePoll(1))
  book.see(completePoll(10, early(false)))
  const signal = { name: 'recorded', window: 900, offset: 0, minCalls: 2 } as const
  const rules = [ruleOn(signal, { breach: 'below', threshold: 1 })]
  const settings = { target: targetConfig(), poll: pollConfig(), rules }
  const target = { name: 'production', ledger: book.state, alerts: new Map(), settings }
  const firing = (hasRecording: boolean) => {
    const now = seen('now', 'ended', { endedAt: CREATED + 15, hasRecording: true })
    const decision = decide(target, completePoll(20, early(hasRecording), now), undefined, CREATED + 20)
    return decision?.alerts.changed.map(({ value, calls }) => [value, calls])
  }
  expect([firing(false), firing(true)]).toEqual([[[0.5, 2]], []])
})
