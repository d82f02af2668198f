import { whole } from '../draw.ts'
import { withTurns } from '../turn.ts'
import type { Fact } from './fact.ts'

/**
 * Some minutes after the end all times of the call are some seconds earlier, and it has more minutes, as where the records of
 * the media servers replace those of the signalling. Truth: the same call, with the minutes that the service says last.
 */
export const redated: Fact = (life, { random, wait }) => {
  if (life.turns || life.startedMs === undefined) return undefined
  // One that was over before the other one began is taken for another row.
  if (life.endedMs - life.initiatedMs < 30_000) return undefined
  const sooner = whole(random, 2, 20)
  return withTurns(life, {
    ms: life.endedMs + wait(240, 3600),
    name: 'corrected',
    change: ({ initiatedAt, startedAt, endedAt, ...call }) => ({
      ...call,
      initiatedAt: initiatedAt - sooner,
      ...(startedAt === undefined ? {} : { startedAt: startedAt - sooner }),
      ...(endedAt === undefined ? {} : { endedAt: endedAt - sooner }),
      totalAudioMinutes: call.totalAudioMinutes + 1,
      totalDurationInMinutes: call.totalDurationInMinutes + 1,
    }),
  })
}
