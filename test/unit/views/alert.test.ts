import { expect, test } from 'vitest'
import { alertView } from '../../../src/views/alert.ts'
import { firing, NOW, RATIO_RULE } from '../../kit/metrics/hand-made-target.ts'

test('an alert has the description of its rule, with numbers of now alone, while its value is beyond the threshold', () => {
  const instance = firing({ ...RATIO_RULE, description: '{value} of {calls} calls failed. Perhaps pushes are late.' })
  const description = (differing: object, freshFrom?: number) =>
    alertView(
      { target: 'a', instance: { ...instance, ...differing } },
      () => ({ labels: {} }),
      [],
      new Map(),
      freshFrom,
    ).description
  expect(description({ value: 0.5, calls: 40 })).toBe('50% of 40 calls failed. Perhaps pushes are late.')
  expect(description({ value: 0.5, calls: 40 }, NOW + 3600)).toBe('Perhaps pushes are late.')
  expect(description({ value: 0.25 })).toBeUndefined()
})
