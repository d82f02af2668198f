import { chance, pick, whole } from '../../../src/simulator/random.ts'
import type { DrawnRun } from './draw-run.ts'
import { MINUTE, type Hazard } from './hazard.ts'

/** Two polls and more. */
const LONG_GAPS = [45, 10 * MINUTE] as const
const FORMS = ['A', 'A', 'B', 'B', 'C'] as const
const MIDS = ['given', 'given', 'given', 'late', 'none', 'room', 'restarted'] as const

/** Sessions with several calls. */
export const sessionHazards = {
  /**
   * Rooms are used again and again. An answer that lacks a call's times does not say which call of its session it shows, since
   * meetings may have no `mid`.
   */
  sessions: {
    probability: 0.5,
    change: ({ past }, stream) => {
      const mids = pick(stream, MIDS)
      return {
        past: { ...past, groups: whole(stream, 2, 8) },
        standing: {
          sessions: 'reused',
          listedAs: pick(stream, FORMS),
          mids,
          sessionGap: chance(stream, 0.5) ? 1 : whole(stream, ...LONG_GAPS),
          unknownCall: chance(stream, 0.2) ? 'empty_list' : 'not_found',
          // Without mids a row is another call if it began after the last poll, by the clock of the answers.
          ...(mids !== 'given' && { dateOffset: 0 }),
        },
        facts: {
          marked_id: chance(stream, 0.2) ? 0.5 : 0,
          long_id: chance(stream, 0.2) ? 0.5 : 0,
          // Without mids nothing but a right start tells a call from the one before it.
          ...(mids !== 'given' && { near_future: 0, times_reversed: 0 }),
        },
        odd: { fields: 0 },
      }
    },
  },
} satisfies Record<string, Hazard>

/**
 * Whether it can be decided which call of its session a row is of, if its times or those of the answer are wrong: without a `mid`,
 * another start is another call or wrong times. After a restart of the media server both differ, and it is the same call.
 */
export function hasMids({ standing: { sessions = 'unique', mids } }: DrawnRun): boolean {
  return sessions === 'unique' || mids === 'given'
}

/** Whether an old page can be told from a new one: a row in the place of another one, of which only the start differs, cannot. */
export function isOldPageKnown({ standing: { listedAs, mids } }: DrawnRun): boolean {
  return listedAs !== 'B' || (mids !== 'none' && mids !== 'room')
}
