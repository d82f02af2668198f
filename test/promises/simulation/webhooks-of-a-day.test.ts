import { describe, expect, test } from 'vitest'
import { watched } from '../../kit/pipeline/watched-webhooks.ts'

describe('of a day in which two of five calls are not answered', () => {
  const day = (lost: number) =>
    watched({ hours: 24, callsPerMinute: 2, answerProbability: 0.6, switches: { webhookFault: { lost } } })

  test('no webhook is missed if none is lost', async () => {
    const { counted } = await day(0)
    expect([counted('no'), counted('yes') > 1000, counted('unknown') > 500]).toEqual([0, true, true])
  }, 300_000)

  test('more than the rules allow are missed if a tenth is lost', async () => {
    const { counted } = await day(0.1)
    expect(counted('no') / (counted('no') + counted('yes'))).toBeGreaterThan(0.07)
  }, 300_000)
})
