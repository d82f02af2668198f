import * as fc from 'fast-check'
import {
  FINAL_STATUSES,
  labelsOf,
  MODES,
  OPEN_STATUSES,
  RECEIVER_TYPES,
  TYPES,
  type Labels,
} from '../../src/ledger/call.ts'
import { MARK, type Finish, type TrackedCall } from '../../src/ledger/tracked-call.ts'

export const PHASES = ['open', 'lost', 'final', 'baseline'] as const satisfies readonly TrackedCall['phase'][]
export const ALL_LABELS: readonly Labels[] = TYPES.flatMap((type) =>
  MODES.flatMap((mode) => RECEIVER_TYPES.map((receiverType) => labelsOf(type, mode, receiverType))),
)

/** Numbers as they are usual, and all that there are. */
const number = fc.oneof(
  fc.nat(1000),
  fc.integer({ min: 1_790_000_000, max: 1_800_000_000 }),
  fc.nat(1e9).map((ms) => 1_790_000_000 + ms / 1000),
  fc.double({ noNaN: true }),
)
const unsure = fc.option(number, { nil: undefined })
/** Objects like those that are written down. */
const PLAIN = { noNullPrototype: true }
const labels = fc.constantFrom(...ALL_LABELS)

export const anyFinish: fc.Arbitrary<Finish> = fc.record(
  {
    status: fc.constantFrom(...FINAL_STATUSES, 'other'),
    labels,
    at: number,
    known: number,
    knownHost: number,
    began: number,
    answerDelay: unsure,
    duration: unsure,
    audio: number,
    video: number,
  },
  PLAIN,
)

/** Any call that a row may hold, also such as no service would show. */
export const anyCall: fc.Arbitrary<TrackedCall> = fc.record(
  {
    id: fc.string({ unit: 'binary', maxLength: 100 }),
    phase: fc.constantFrom(...PHASES),
    status: fc.constantFrom(...OPEN_STATUSES, ...FINAL_STATUSES, 'other'),
    labels,
    firstSeen: number,
    initiatedAt: unsure,
    startedAt: unsure,
    endedAt: unsure,
    totalParticipants: unsure,
    joined: unsure,
    counted: fc.tuple(number, number, number, number),
    finish: fc.option(anyFinish, { nil: undefined }),
    notFound: fc.nat(255),
    retainUntil: unsure,
    marks: fc.subarray(Object.values(MARK)).map((marks) => marks.reduce((all, mark) => all | mark, 0)),
  },
  PLAIN,
)
