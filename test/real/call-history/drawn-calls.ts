import type { Notification } from '../../../src/alerts/notification.ts'
import { MODES, RECEIVER_TYPES, TYPES, type FinalStatus, type SeenCall } from '../../../src/ledger/call.ts'
import { instanceKey, type RuleLabels } from '../../../src/alerts/groups.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import type { Store } from '../../../src/store/store.ts'
import { firingOf, POLL_AGE, RATIO } from '../../kit/alerts/sample-rules.ts'
import { asked, completePoll, CREATED, listed, seen } from '../../kit/ledger/seen.ts'
import { DAY, openIn } from '../../kit/store/place.ts'

/** The current time of the queries (UNIX seconds): 2026-10-02T14:13:20Z. */
export const NOW = CREATED + 11 * DAY

/** A call as a test knows it without any store, under the names of the page; times in UNIX seconds. */
export type DrawnCall = {
  target: string
  id: string
  type: (typeof TYPES)[number]
  mode: (typeof MODES)[number]
  receiverType: (typeof RECEIVER_TYPES)[number]
  status: FinalStatus | 'ongoing' | 'lost'
  began: number
  started: number | undefined
  finished: number | undefined
  noticed: number | undefined
  participants: number | undefined
  audio: number
  video: number
  recorded: boolean
}

export const TARGETS = ['production', 'staging']

/** Of each target, the same calls each time: they begin at random moments, some of them near those that queries depend on. */
export function drawCalls(): DrawnCall[] {
  let state = 20_260_922
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  const between = (from: number, to: number) => Math.round(1000 * (from + random() * (to - from))) / 1000
  const pick = <T>(...values: readonly T[]) => values[Math.floor(random() * values.length)]!
  const midnight = Math.floor(NOW / DAY) * DAY
  const month = Date.UTC(2026, 9, 1) / 1000
  const moments = [
    () => between(CREATED + 1, NOW - 5000),
    () => between(NOW - 4200, NOW - 1000),
    () => between(NOW - 7 * DAY - 4200, NOW - 7 * DAY + 600),
    () => pick(midnight, midnight - DAY) + between(-300, 300),
    () => month + between(-9000, 600),
  ]
  return TARGETS.flatMap((target) =>
    Array.from({ length: 240 }, (_, i): DrawnCall => {
      const began = moments[i % 7]?.() ?? moments[0]!()
      const status = pick<DrawnCall['status']>('ended', 'ended', 'ended', 'unanswered', 'rejected', 'canceled', 'other', 'ongoing', 'lost') // oxfmt-ignore
      const rings = between(1, 40)
      const [isEnded, isOpen] = [status === 'ended', status === 'ongoing']
      const finished = began + rings + (isEnded ? between(1, 900) : status === 'lost' ? 20 : 0)
      const noticed = status === 'lost' ? finished : finished + (random() < 0.1 ? between(61, 4000) : between(1, 15))
      return {
        target,
        id: `call ${i}`,
        type: pick(...TYPES),
        mode: pick('call', ...MODES),
        receiverType: pick(...RECEIVER_TYPES),
        status,
        began,
        started: isEnded || isOpen ? began + rings : undefined,
        finished: isOpen ? undefined : finished,
        noticed: isOpen ? undefined : noticed,
        participants: i % 11 === 0 ? undefined : 1 + Math.floor(random() * 9),
        audio: isEnded ? between(0, 60) : 0,
        video: isEnded ? between(0, 60) : 0,
        recorded: random() < 0.3,
      }
    }).filter(({ noticed }) => noticed === undefined || noticed < NOW),
  )
}

/** A store in which these calls are, as a daemon would have seen them; half of those that finished first while they were open. */
export async function fillWith(store: Store, calls: readonly DrawnCall[]): Promise<void> {
  for (const target of TARGETS) {
    const { see } = await openIn(store, { name: target, fingerprint: target })
    const observations = calls.filter((call) => call.target === target).flatMap(observationsOf)
    for (const { at, call, lost } of observations.toSorted((a, b) => a.at - b.at)) {
      await see({ answers: [lost === undefined ? listed(at, call!) : asked(at, undefined, [lost])] })
    }
    const open = calls.filter((call) => call.target === target && call.status === 'ongoing').map(seenOf)
    // One that is not counted, and the horizon passes all that finished.
    const final = completePoll(NOW - CREATED, ...open, seen('over before', 'ended', { endedAt: CREATED - 5 }))
    await see(final, { changes: ALERTS.filter((alert) => alert.target === target).flatMap(changesOf) })
  }
}

/** An alert as a test knows it; times in UNIX seconds. */
export type DrawnAlert = {
  target: string
  rule: Rule
  since: number
  until?: number
  peak: number
  labels?: RuleLabels
  expiredBecause?: 'rule removed'
}

export const ALERTS: readonly DrawnAlert[] = [
  {
    target: 'production',
    rule: RATIO,
    since: NOW - 3 * DAY,
    until: NOW - 2 * DAY,
    peak: 0.5,
    labels: { type: 'video', mode: 'call', receiver_type: 'group' },
  },
  { target: 'production', rule: RATIO, since: NOW - DAY, until: NOW - DAY / 2, peak: 0.75 },
  { target: 'staging', rule: RATIO, since: NOW - 9 * DAY, until: NOW - 8 * DAY, peak: 0.4 },
  {
    target: 'staging',
    rule: POLL_AGE,
    since: NOW - 7000,
    until: NOW - 6000,
    peak: 900,
    expiredBecause: 'rule removed',
  },
  { target: 'staging', rule: POLL_AGE, since: NOW - 500, peak: 400 },
]

function changesOf({ target, rule, since, until, peak, labels = {}, expiredBecause }: DrawnAlert): Notification[] {
  const key = instanceKey(rule.name, labels)
  const begun = firingOf(rule, target, since, { key, labels, peak, firingSince: since, at: since })
  const change = {
    kind: expiredBecause === undefined ? 'resolved' : 'expired',
    ...(expiredBecause && { expiredBecause }),
  } as const
  const ended = until === undefined ? [] : [{ ...begun, ...change, at: until }]
  return [begun, ...ended]
}

type DrawnObservation = { at: number; call?: SeenCall; lost?: string }

function observationsOf(call: DrawnCall, i: number): DrawnObservation[] {
  const { id, status, began, noticed } = call
  const open = { ...seenOf(call), status: 'initiated', startedAt: undefined, endedAt: undefined } as const
  if (status === 'ongoing') return [{ at: began + 45, call: seenOf(call) }]
  if (status === 'lost') return [{ at: began, call: open }, ...[10, 0].map((ago) => ({ at: noticed! - ago, lost: id }))]
  const observations = i % 2 === 0 ? [] : [{ at: began, call: open }]
  if (i % 3 > 0) return [...observations, { at: noticed!, call: seenOf(call) }]
  // Its minutes are corrected.
  const first = { ...seenOf(call), callMinutes: { audio: call.audio + 1, video: 99, total: undefined } }
  return [...observations, { at: noticed!, call: first }, { at: noticed! + 0.001, call: seenOf(call) }]
}

function seenOf(call: DrawnCall): SeenCall {
  const { id, status, type, mode, receiverType, began, started, finished, participants, audio, video, recorded } = call
  return seen(id, status === 'lost' ? 'initiated' : status, {
    type,
    mode,
    receiverType,
    initiatedAt: began,
    startedAt: started,
    endedAt: finished,
    totalParticipants: participants,
    joined: participants,
    callMinutes: { audio, video, total: undefined },
    participantMinutes: { audio: 2 * audio, video: 2 * video, total: undefined },
    hasRecording: recorded,
  })
}
