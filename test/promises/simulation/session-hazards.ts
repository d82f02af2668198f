import { chance, pick, whole } from '../../../src/simulator/random.ts'
import { MINUTE, type Hazard } from './hazard.ts'

/** Two polls and more. */
const LONG_GAPS = [45, 10 * MINUTE] as const
const FORMS = ['A', 'A', 'B', 'B', 'C'] as const
const MIDS = ['given', 'given', 'given', 'late', 'none', 'room'] as const

/** Sessions with several calls. */
export const sessionHazards = {
  /**
   * Rooms are used again and again. An answer that lacks a call's times does not say which call of its session it shows, since
   * meetings may have no `mid`.
   */
  sessions: {
    probability: 0.5,
    change: ({ past }, stream) => {
      return {
        past: { ...past, groups: whole(stream, 2, 8) },
        standing: {
          sessions: 'reused',
          listedAs: pick(stream, FORMS),
          mids: pick(stream, MIDS),
          sessionGap: chance(stream, 0.5) ? 1 : whole(stream, ...LONG_GAPS),
          unknownCall: chance(stream, 0.2) ? 'empty_list' : 'not_found',
        },
        facts: {
          marked_id: chance(stream, 0.2) ? 0.5 : 0,
          long_id: chance(stream, 0.2) ? 0.5 : 0,
        },
        odd: { fields: 0 },
      }
    },
  },
} satisfies Record<string, Hazard>
