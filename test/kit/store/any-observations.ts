import * as fc from 'fast-check'
import { MODES, RECEIVER_TYPES, TYPES, type SeenCall } from '../../../src/ledger/call.ts'
import type { Observation } from '../../../src/ledger/observation.ts'
import { asked, completePoll, CREATED, listed, seen } from '../ledger/seen.ts'

/** A moment among those of the observations, with a fraction now and then. */
const moment = fc.oneof(fc.integer({ min: -50, max: 3000 }), fc.double({ min: 0, max: 3000, noNaN: true }))
const minutes = fc.option(fc.oneof(fc.nat(60), fc.double({ min: 0, max: 60, noNaN: true })), { nil: undefined })
const time = fc.option(
  moment.map((seconds) => CREATED + seconds),
  { nil: undefined },
)

/** One of a few calls, in whatever state, as no orderly service would show them. */
const anySeen: fc.Arbitrary<SeenCall> = fc
  .record({
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'quote " and \\', "it's", 'ünï ☎', '{,}', 'NULL'),
    status: fc.constantFrom('initiated', 'ongoing', 'ended', 'unanswered', 'rejected', 'canceled', 'other'),
    more: fc.record({
      type: fc.constantFrom(...TYPES),
      mode: fc.constantFrom(...MODES),
      receiverType: fc.constantFrom(...RECEIVER_TYPES),
      initiatedAt: time,
      startedAt: time,
      endedAt: time,
      callMinutes: fc.record({ audio: minutes, video: minutes, total: minutes }),
      participantMinutes: fc.record({ audio: minutes, video: minutes, total: minutes }),
      hasParticipantList: fc.boolean(),
      totalParticipants: fc.option(fc.nat(60), { nil: undefined }),
      joined: fc.option(fc.nat(60), { nil: undefined }),
      invited: fc.option(fc.record({ joined: fc.nat(50), absent: fc.nat(50) }), { nil: undefined, freq: 1 }),
      hasRecording: fc.boolean(),
      badValue: fc.boolean(),
    }),
  })
  .map(({ id, status, more }) => seen(id, status, more))

const calls = fc.uniqueArray(anySeen, { selector: ({ id }) => id, maxLength: 8 })

/** What may be observed of a target: complete and partial polls, and calls that are not found. */
export const anyObservations: fc.Arbitrary<Observation[]> = fc
  .array(
    fc.record({ calls, kind: fc.constantFrom('whole', 'part', 'asked'), after: fc.integer({ min: 1, max: 700 }) }),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  .map((drawn) => {
    let at = 0
    return drawn.map(({ calls: shown, kind, after }) => {
      at += after
      if (kind === 'whole') return completePoll(at, ...shown)
      if (kind === 'part') return { answers: [listed(CREATED + at, ...shown)] }
      const [found, ...gone] = shown
      const notFound = gone.map(({ id }) => id)
      return { answers: [asked(CREATED + at, found, notFound)] }
    })
  })
