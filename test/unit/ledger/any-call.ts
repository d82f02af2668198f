import * as fc from 'fast-check'
import { ALL_LABELS, FINAL_STATUSES, OPEN_STATUSES } from '../../../src/ledger/call.ts'
import { MARK, type Finish, type TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { anyCharacter } from '../../kit/any-character.ts'

export const PHASES = ['open', 'lost', 'final', 'baseline'] as const satisfies readonly TrackedCall['phase'][]

/** Usual numbers, and any others. */
const number = fc.oneof(
  fc.nat(1000),
  fc.integer({ min: 1_790_000_000, max: 1_800_000_000 }),
  fc.nat(1e9).map((ms) => 1_790_000_000 + ms / 1000),
  // The service's numbers and times are never negative.
  fc.double({ min: 0, noNaN: true }),
)
const optional = fc.option(number, { nil: undefined })
/** Objects with a prototype, like literals. */
const PLAIN = { noNullPrototype: true }
const labels = fc.constantFrom(...ALL_LABELS)

export const anyFinish: fc.Arbitrary<Finish> = fc.record(
  {
    status: fc.constantFrom(...FINAL_STATUSES, 'other'),
    labels,
    at: number,
    known: number,
    knownHostTime: number,
    began: number,
    answerDelay: optional,
    duration: optional,
    audio: number,
    video: number,
    invited: fc.option(fc.record({ joined: fc.nat(10_000), absent: fc.nat(10_000) }, PLAIN), { nil: undefined }),
  },
  PLAIN,
)

/** Any call that a row can contain, even if no service would show it. */
export const anyCall: fc.Arbitrary<TrackedCall> = fc.record(
  {
    id: fc.string({ unit: anyCharacter, maxLength: 100 }),
    phase: fc.constantFrom(...PHASES),
    status: fc.constantFrom(...OPEN_STATUSES, ...FINAL_STATUSES, 'other'),
    labels,
    firstSeen: number,
    initiatedAt: optional,
    startedAt: optional,
    endedAt: optional,
    totalParticipants: optional,
    joined: optional,
    mid: optional,
    session: fc.option(fc.string({ unit: anyCharacter, minLength: 1 }), { nil: undefined }),
    minutes: fc.tuple(number, number, number, number),
    finish: fc.option(anyFinish, { nil: undefined }),
    notFound: fc.nat(255),
    retainUntil: optional,
    marks: fc.subarray(Object.values(MARK)).map((marks) => marks.reduce((all, mark) => all | mark, 0)),
  },
  PLAIN,
)
