import { chance, pick, whole } from '../../src/simulator/random.ts'
import { MINUTE, type Hazard } from './hazard.ts'

/** Two polls and more. */
const LONG_GAPS = [45, 10 * MINUTE] as const
const FORMS = ['A', 'A', 'B', 'C'] as const
const MIDS = ['given', 'given', 'late', 'none', 'room', 'restarted'] as const

/** Sessions with several calls. */
export const sessionHazards = {
  /** Rooms are used again and again. An answer that lacks a call's times and its `mid` does not say which call it shows. */
  sessions: {
    probability: 0.5,
    change: ({ kind, past }, stream) => {
      // What ends a second time has no exact series, but where it ended before the set-up (as of the fact `reopened`).
      const listedAs = pick(stream, kind === 'troubled' ? FORMS : FORMS.filter((form) => form !== 'C'))
      return {
        past: { ...past, groups: whole(stream, 2, 8) },
        standing: {
          sessions: 'reused',
          listedAs,
          mids: pick(stream, MIDS),
          sessionGap: chance(stream, 0.5) ? 1 : whole(stream, ...LONG_GAPS),
          unknownCall: chance(stream, 0.2) ? 'empty_list' : 'not_found',
        },
        facts: { marked_id: chance(stream, 0.2) ? 0.5 : 0, long_id: chance(stream, 0.2) ? 0.5 : 0 },
        odd: { fields: 0 },
      }
    },
  },
} satisfies Record<string, Hazard>
