import { expect, test } from 'vitest'
import { linesOf } from '../../../src/notifications/report-lines.ts'
import { DIGEST, FIRING, messageOf, PAST, STORE_FAILING } from '../../kit/notifications/sample.ts'

test('each target of a digest is a line', () => {
  expect(linesOf(DIGEST)).toMatchObject([
    {
      fields: { target: 'production', day: '2026-11-19' },
      text: expect.stringMatching(/^digest of 2026-11-19: 1,204 calls/),
    },
    { fields: { target: 'new-customer' } },
    { fields: { target: 'staging' } },
  ])
})

test('the past is a line', () => {
  const text = /^callwatch watches production: the last 24h: 1,204 calls, .*; ended 1,153, .* for 9h 5m$/
  expect(linesOf(PAST)).toEqual([{ fields: {}, text: expect.stringMatching(text) }])
})

test('the log has alerts, and problems of the store, anyway', () => {
  expect([messageOf([FIRING]), STORE_FAILING].map(linesOf)).toEqual([[], []])
})
