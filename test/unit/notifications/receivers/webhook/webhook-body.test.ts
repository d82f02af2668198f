import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '../../../../../src/notifications/message.ts'
import { messageView } from '../../../../../src/notifications/receivers/webhook/webhook-body.ts'
import { anyMessage } from '../../any-message.ts'
import {
  AT,
  DAILY,
  FIRING,
  messageOf,
  NO_POLL,
  RESOLVED,
  SIGNALS,
  STORE_FAILING,
  update,
  TOO_FEW,
} from '../../../../kit/notifications/sample.ts'
import { runs } from '../../../../kit/runs.ts'

test.each<[string, Message]>([
  [
    'webhook-alerts',
    messageOf([update(SIGNALS.failure_ratio, 2), SIGNALS.budget_minutes, NO_POLL, RESOLVED, TOO_FEW], {
      flapped: [{ notification: FIRING, times: 3, peak: 0.62, endedAt: AT - 300 }],
      silenced: [
        {
          alert: 'NoCalls{type="video"}',
          target: 'production',
          until: AT + 3600,
          reason: 'maintenance of the carrier',
        },
      ],
    }),
  ],
  ['webhook-report', DAILY],
  ['webhook-store', STORE_FAILING],
])('the body "%s" is as reviewed', async (name, message) => {
  await expect(`${JSON.stringify(messageView(message, AT), undefined, 2)}\n`).toMatchFileSnapshot(
    `fixtures/${name}.json`,
  )
})

test('whatever a message is made of, JSON loses nothing of the body', () => {
  fc.assert(
    fc.property(anyMessage, (message) => {
      const body = messageView(message, AT)
      // A NaN or an undefined would come back as something else.
      expect(JSON.parse(JSON.stringify(body))).toStrictEqual(body)
    }),
    { numRuns: runs(100) },
  )
})

test('every name is in snake_case', () => {
  const names: string[] = []
  const message = messageOf([...Object.values(SIGNALS), TOO_FEW], {
    flapped: [{ notification: FIRING, times: 3, peak: 0.62, endedAt: AT }],
  })
  JSON.stringify([messageView(message, AT), messageView(DAILY, AT), messageView(STORE_FAILING, AT)], (name, value) => {
    names.push(name)
    return value
  })
  expect(names.length).toBeGreaterThan(100)
  for (const name of names) expect(name).toMatch(/^(?:[a-z]+\d*(?:_[a-z]+)*|\d*)$/)
})
