import { expect, test } from 'vitest'
import { newLags } from '../../../src/commands/demo/lines.ts'
import { finish } from '../../kit/metrics/hand-made-target.ts'

const endedAt = (at: number) => ({ ...finish('ended'), at })

test('the lag of ends is shown by polls alone, and with webhooks from when on the service sends them', () => {
  const lags = newLags(100)
  expect(lags.line({ sent: 0, lost: [] })).toBeUndefined()
  lags.note([endedAt(99)], 160)
  expect(lags.line({ sent: 0, lost: [] })).toBeUndefined()
  lags.note([endedAt(100), endedAt(101), endedAt(102)], 104)
  expect(lags.line({ sent: 0, lost: [] })).toBe('  lag       half of the ends are noticed within 3.0 s by polls alone')
  lags.withWebhooks(110)
  lags.note([endedAt(109), endedAt(110), endedAt(111), endedAt(111.5)], 112)
  expect(lags.line({ sent: 9, lost: ['one'] })).toBe(
    "  lag       half of the ends are noticed within 3.0 s by polls alone, 1.0 s with the service's webhooks (9 came, 1 were lost)",
  )
})
