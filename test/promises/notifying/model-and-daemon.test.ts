import { describe, expect, test } from 'vitest'
import type { Logged } from '../../kit/notifications/model/play.ts'
import { differences } from '../../kit/notifications/model/compare.ts'
import { drawHistory, LENGTH } from '../../kit/notifications/model/draw.ts'
import { playDaemon } from '../../kit/notifications/model/play-daemon.ts'
import { playModel } from '../../kit/notifications/model/play.ts'
import { WRITTEN } from '../../kit/notifications/model/written-histories.ts'

/** How many histories are drawn. A change of what is told is tried with 300 or more. */
const SEEDS = Number(process.env['HISTORIES'] ?? 100)

describe('the daemon tells what the model tells', () => {
  test.each(WRITTEN.map((one) => [one.shows, one] as const))(
    'where %s',
    async (_shows, { history, length, config = {} }) => {
      const given = { length, config }
      expect(differences(playModel(history, given).log, await playDaemon(history, given))).toEqual([])
    },
  )

  test.each(Array.from({ length: SEEDS }, (_, i) => i + 1))('in the history of seed %i', async (seed) => {
    const history = drawHistory(seed)
    const { log } = playModel(history, { length: LENGTH })
    const told = await playDaemon(history, { length: LENGTH })
    expect(differences(log, told)).toEqual([])
    expect(told.filter(saysNothing)).toEqual([])
  })
})

/** A reminder shows what fires. */
const saysNothing = ({ kind, begins, ends, was }: Logged) =>
  kind !== 'reminder' && [...begins, ...ends, ...was].length === 0
