import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { SHARED_KEYS } from '../../../src/alerts/rule-keys.ts'
import { ruleSchema } from '../../../src/alerts/rule.ts'
import { signals } from '../../../src/alerts/signals.ts'
import { measured, measuredView } from '../../../src/views/rule.ts'

/** Values of all keys that some signal declares. */
const GIVEN: Readonly<Record<string, unknown>> = {
  window: '10m',
  offset: '5m',
  longer_than: '2h',
  shorter_than: '20s',
  status: 'initiated',
  timezone: 'Europe/Berlin',
  reason: 'rejected',
  media: 'audio',
  of: 'duration',
  limit: 1000,
  min_calls: 7,
  min_requests: 8,
  cycle_day: 15,
  confidence: 0.95,
}

describe.each(signals)('of a rule on $name', ({ name, keys }) => {
  const own = Object.keys(keys).filter((key) => !SHARED_KEYS.has(key))
  const side = 'above' in keys ? { above: 0.5 } : { below: 0.5 }
  const given = { name: 'A', signal: name, ...side, ...Object.fromEntries(own.map((key) => [key, GIVEN[key]])) }
  const view = measuredView(ruleSchema.parse(given).signal)

  test('each setting that its signal declares leaves the process, durations as seconds', () => {
    const seconds: Readonly<Record<string, number>> = { window: 600, offset: 300, longer_than: 7200, shorter_than: 20 }
    const expected = own.map((key) => (key in seconds ? [`${key}_seconds`, seconds[key]] : [key, GIVEN[key]]))
    expect(view).toEqual({ signal: name, ...Object.fromEntries(expected) })
  })

  test('they have their schemas', () => {
    expect(z.strictObject(measured).safeParse(view).error).toBeUndefined()
  })
})

test('each duration that a signal declares has a name that ends with its unit, and nothing else has', () => {
  const declared = signals.flatMap(({ keys }) => Object.entries<z.ZodType>(keys))
  const durations = declared.flatMap(([key, schema]) =>
    !SHARED_KEYS.has(key) && z.safeEncode(schema, 7200).data === '2h' ? [`${key}_seconds`] : [],
  )
  const named = Object.keys(measured).filter((name) => name.endsWith('_seconds'))
  expect(new Set(durations)).toEqual(new Set(named))
})

test('a setting of a later version, which the store may have, is left out', () => {
  const signal = { name: 'in_progress', loudness: { ofBells: 1 } } as const
  expect(measuredView(signal)).toEqual({ signal: 'in_progress' })
})
