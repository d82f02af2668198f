import { describe, expect, test } from 'vitest'
import { lineOf } from '../../kit/notifications/model/compare.ts'
import { drawHistory, LENGTH } from '../../kit/notifications/model/draw.ts'
import { playModel } from '../../kit/notifications/model/play.ts'
import { WRITTEN } from '../../kit/notifications/model/written-histories.ts'

const SEEDS = 300

test('what the model tells in drawn histories keeps its laws', () => {
  let told = 0
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { log, violations } = playModel(drawHistory(seed), { length: LENGTH })
    expect(violations, `seed ${seed}`).toEqual([])
    told += log.length
  }
  expect(told / SEEDS).toBeGreaterThan(10)
})

describe('the table', () => {
  test.each(WRITTEN.map((one) => [one.shows, one] as const))('says that %s', (_shows, { history, told, ...given }) => {
    const { log, violations } = playModel(history, given)
    const lines = log.flatMap((one) => (one.receiver === 'r0' ? lineOf(one).replace('r0 ', '') : []))
    expect(lines).toEqual(told)
    expect(violations).toEqual([])
  })
})
