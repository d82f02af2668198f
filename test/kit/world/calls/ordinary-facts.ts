import { finalStatuses, isFinalStatus, type Call } from '../../../../src/simulator/calls/call.ts'
import type { Fact } from './facts.ts'
import { isEndHidden } from '../../../../src/simulator/calls/call-at.ts'
import { MAX_SEATS, retimed, type Seat } from '../../../../src/simulator/calls/life.ts'
import { between, chance, pick, weighted, whole } from '../../../../src/simulator/random.ts'
import { always, shifted, unchanged, withTurns, type Turn } from './turn.ts'

const SWIFT_TIMES = 30
const YEARS_20 = 20 * 365 * 86_400
/** What the wire shows instead of a label; undefined: nothing. */
const UNKNOWN_LABELS = [
  'hologram',
  'VIDEO-PLUS',
  'toString',
  'a "quoted" \\ value\n',
  undefined,
  null,
  7,
  {},
  ['audio'],
]

/**
 * The facts that `drawSwitches` draws: any world may have them. They are tried in this order: the first ones change
 * times and statuses that the later ones depend on. "Expected" is what counters must show of such a call.
 */
export const ordinaryFacts = {
  /** Begins and ends within a few seconds, between two polls. Expected: as of any other call. */
  swift: (life) => {
    const { initiatedMs } = life
    const sooner = (ms: number): number => initiatedMs + Math.ceil((ms - initiatedMs) / SWIFT_TIMES)
    return { ...life, ...retimed(life, sooner) }
  },
  /**
   * An undocumented status: while the call rings, for a while in its middle, or as its end, which has an `endedAt`
   * then. Expected: it is in progress, or finishes, as `other`.
   */
  unknown_status: (life, { random }) => {
    const kind = pick(random, ['first', 'middle', 'last'])
    if (kind === 'last') return { ...life, outcome: 'failed' }
    if (kind === 'first') return { ...life, firstStatus: 'ringing' }
    const { startedMs, endedMs } = life
    if (startedMs === undefined || endedMs - startedMs < 3) return undefined
    const ms = startedMs + Math.ceil(between(random, 0, 0.5) * (endedMs - startedMs - 2))
    const paused: Turn = { ms, name: 'paused', change: instead('ongoing', 'on hold') }
    const until = ms + Math.ceil(between(random, 0, 0.5) * (endedMs - startedMs - 2))
    const change = instead('on hold', 'ongoing')
    return withTurns(life, paused, { ms: Math.max(until, ms + 1), name: 'resumed', change, undoes: paused })
  },
  /**
   * Type, mode or receiver type outside the documented values, missing, null or of another type, all the call's life.
   * Expected: the label is `other`.
   */
  unknown_label: (life, { random }) => {
    const name = pick(random, ['type', 'mode', 'receiverType'])
    const value = pick(random, UNKNOWN_LABELS)
    if (typeof value === 'string') return { ...life, [name]: value }
    const { shown } = life
    return { ...life, [name]: '', shown: (call) => ({ ...(shown?.(call) ?? call), [name]: value }) }
  },
  /** The session id is a number on the wire. Expected: the same call as the one of its decimal text. */
  numeric_id: (life, { random }) => {
    const { shown } = life
    return {
      ...life,
      sessionId: String(whole(random, 1e14, 9e15)),
      shown: (call) => ({ ...(shown?.(call) ?? call), sessionId: Number(call.sessionId) }),
    }
  },
  /**
   * All times of the call are ahead of the service's clock, by up to two hours. Expected: the times as they are shown;
   * the failure ratio depends on when one polls, since no call finishes after the moment at which it is seen.
   */
  near_future: (life, { random }) => {
    const ahead = whole(random, 2, 7200)
    return withTurns(
      life,
      always((call) => shifted(call, ahead)),
    )
  },
  /**
   * One of the call's times is twenty years ahead. Expected: that time is a bad value, and what depends on it is missing. Where
   * it is `endedAt` the call counts among those `withoutEndedAt`. Not for the only time of a call: one that is over and has no
   * time counts only if a sweep has ended before it is seen, which depends on when one polls.
   */
  far_future: (life, { random }) => {
    const name = pick(random, ['initiatedAt', 'startedAt', 'endedAt'])
    if (name === 'startedAt' && (life.startedMs === undefined || life.hasStartAlone)) return undefined
    if (name === 'initiatedAt' && isEndHidden(life)) return undefined
    // Only an endedAt makes an unknown status final.
    if (name === 'endedAt' && life.outcome === 'failed') return undefined
    return withTurns(
      life,
      always((call) => (call[name] === undefined ? call : { ...call, [name]: call[name] + YEARS_20 })),
    )
  },
  /**
   * An answered call is shown as begun a minute after it was answered, also while it rings. Expected: no answer delay; the rest as it is.
   */
  times_reversed: (life) => {
    if (life.startedMs === undefined) return undefined
    const initiatedAt = Math.floor(life.startedMs / 1000) + 60
    return withTurns(
      life,
      always((call) => ({ ...call, initiatedAt })),
    )
  },
  /**
   * Type, mode or receiver type changes while the call is open. Expected: started with the first labels, finished with
   * those at the end, minutes with the last ones; exact only as sums over that label (`setAside`: `labelsChanged`).
   */
  labels_changed: (life, { random }) => {
    const ms = life.initiatedMs + Math.round(between(random, 0, 1) * (life.endedMs - life.initiatedMs))
    if (ms <= life.initiatedMs || ms >= life.endedMs) return undefined
    const [name, value] = weighted(random, [
      [['type', life.type === 'audio' ? 'video' : 'audio'], 2],
      [['receiverType', life.receiverType === 'user' ? 'group' : 'user'], 1],
      [['mode', life.mode === 'meet' ? 'presenter' : 'meet'], 1],
    ] as const)
    // A label that the wire never shows cannot change on it.
    if (life[name] === '') return undefined
    return withTurns(life, { ms, name: 'relabelled', change: (call) => ({ ...call, [name]: value }) })
  },
  /** An ongoing call is shown as initiated again for a while. Expected: in progress under the status that is shown. */
  set_back: (life, { random }) => {
    const { startedMs, endedMs } = life
    if (startedMs === undefined || endedMs - startedMs < 3) return undefined
    const from = startedMs + Math.ceil(between(random, 0.1, 0.5) * (endedMs - startedMs - 2))
    const to = from + Math.ceil(between(random, 0.1, 0.5) * (endedMs - startedMs - 2))
    const back: Turn = { ms: from, name: 'set_back', change: instead('ongoing', 'initiated') }
    return withTurns(life, back, { ms: to, name: 'resumed', change: instead('initiated', 'ongoing'), undoes: back })
  },
  /** `hasRecording` comes only some time after the end. Expected: the call counts as recorded from then on. */
  recorded_late: (life, { wait }) => {
    if (life.startedMs === undefined || life.recordedFromMs !== undefined) return undefined
    const change = (call: Call): Call => ({ ...call, hasRecording: true })
    return withTurns(life, { ms: life.endedMs + wait(5, 600), name: 'recorded', change })
  },
  /**
   * The minutes of the call and of its participants rise or fall once or twice in the hour after the end. Expected: the
   * minutes that the service says last; compare them less corrections.
   */
  corrected: (life, { random, wait }) => {
    const turns: Turn[] = []
    let ms = life.endedMs
    for (let i = 0; i < (chance(random, 0.3) ? 2 : 1); i++) {
      ms += wait(5, 1800)
      turns.push({ ms, name: 'corrected', change: correction(between(random, 0.3, 1.7), between(random, 0.3, 1.7)) })
    }
    return withTurns(life, ...turns)
  },
  /**
   * Ended, but without `endedAt`; half of these calls get it later. Expected: their end counts, at the moment it came;
   * when it is seen depends on when one polls (`setAside`: `withoutEndedAt`). Not for unknown statuses, which only an
   * `endedAt` makes final.
   */
  without_ended_at: (life, { random, wait }) => {
    if (!isFinalStatus(life.outcome)) return undefined
    if (chance(random, 0.5)) return { ...life, endShownMs: Infinity }
    const ms = life.endedMs + wait(5, 900)
    return withTurns({ ...life, endShownMs: ms }, { ms, name: 'dated', change: unchanged })
  },
  /**
   * A call that ended gets another final status later, or is ongoing again and ends a second time. Expected: the first
   * final status counts; a late poll never saw it (`setAside`: `finalChanged`).
   */
  final_changed: (life, { random, wait }) => {
    const status = pick(
      random,
      finalStatuses.filter((each) => each !== life.outcome),
    )
    const ms = life.endedMs + wait(5, 900)
    if (chance(random, 0.5)) {
      return withTurns(life, { ms, name: 'final_changed', change: (call) => ({ ...call, status }) })
    }
    const change: Turn['change'] = ({ endedAt: _endedAt, ...call }) => ({ ...call, status: 'ongoing' })
    const reopened: Turn = { ms, name: 'final_changed', change }
    const endedAt = Math.floor(life.endedMs / 1000)
    return withTurns(life, reopened, {
      ms: ms + wait(10, 600),
      name: 'final_changed',
      change: (call) => ({ ...call, status, endedAt }),
      undoes: reopened,
    })
  },
  /**
   * Out of the list and unknown to Get Call from some moment on, for good: two of three while the call is open.
   * Expected: what had happened until then; an open call has started, has not finished and is not in progress. Whether
   * a poll saw it depends on when one polls (`setAside`: `vanished`).
   */
  vanished: (life, { random }) => {
    const lasts = life.endedMs - life.initiatedMs
    const ms = life.initiatedMs + Math.max(1, Math.round(between(random, 0, 1.5) * lasts))
    return withTurns(life, { ms, name: 'vanished', change: unchanged })
  },
  /**
   * Out of the list and unknown to Get Call for some seconds or minutes, then there again, with whatever happened to it
   * meanwhile. Expected: as if it had been there all the time, but its events in between are dated to its return
   * (`setAside`: `vanished`).
   */
  vanished_for_a_while: (life, { random, wait }) => {
    if (life.turns?.some(({ name }) => name === 'vanished')) return undefined
    const lasts = life.endedMs - life.initiatedMs
    const ms = life.initiatedMs + Math.max(1, Math.round(between(random, 0, 1.2) * lasts))
    const vanished: Turn = { ms, name: 'vanished', change: unchanged }
    return withTurns(life, vanished, { ms: ms + wait(5, 300), name: 'returned', change: unchanged, undoes: vanished })
  },
  /** Somebody leaves the call and joins it again, with an entry for each time. Expected: one person, with the minutes of both. */
  rejoined: (life, { random }) => {
    const isLong = ({ joins }: Seat) => joins !== undefined && joins.toMs - joins.fromMs >= 3
    if (life.seats.length >= MAX_SEATS || !life.seats.some(isLong)) return undefined
    const seat = pick(random, life.seats.filter(isLong))
    const { fromMs, toMs, cameraFromMs, cameraToMs } = seat.joins!
    const leftMs = fromMs + Math.ceil(between(random, 0, 0.5) * (toMs - fromMs - 2))
    const backMs = leftMs + Math.ceil(between(random, 0, 0.9) * (toMs - leftMs - 1))
    const first = { fromMs, toMs: leftMs, cameraFromMs: Math.min(cameraFromMs, leftMs), cameraToMs: Math.min(cameraToMs, leftMs) } // oxfmt-ignore
    const second = { fromMs: backMs, toMs, cameraFromMs: Math.max(cameraFromMs, backMs), cameraToMs: Math.max(cameraToMs, backMs) } // oxfmt-ignore
    const seats = life.seats.map((each) => (each === seat ? { ...seat, joins: first } : each))
    return { ...life, seats: [...seats, { ...seat, furtherDevice: true, joins: second }] }
  },
  /** Whoever never joined has no `state`, as seen on the live service. Expected: as of any other call. */
  stateless: (life) => {
    const { shown } = life
    const entryOf = ({ state, ...entry }: Call['participants'][number]) =>
      entry.isJoined ? { ...entry, state } : entry
    return { ...life, shown: (call) => ({ ...(shown?.(call) ?? call), participants: call.participants.map(entryOf) }) }
  },
} satisfies Record<string, Fact>

function instead(status: string, other: string): Turn['change'] {
  return (call) => (call.status === status ? { ...call, status: other } : call)
}

function correction(callFactor: number, participantFactor: number): Turn['change'] {
  return ({ participants, ...call }) => {
    const { total, ...own } = scaled(call, callFactor)
    const entries = participants.map((entry) => {
      const { total: totalDuration, ...minutes } = scaled(entry, participantFactor)
      return { ...entry, ...minutes, totalDuration }
    })
    return { ...call, ...own, totalDurationInMinutes: total, participants: entries }
  }
}

function scaled(of: Pick<Call, 'totalAudioMinutes' | 'totalVideoMinutes'>, factor: number) {
  const totalAudioMinutes = rounded(of.totalAudioMinutes * factor)
  const totalVideoMinutes = rounded(of.totalVideoMinutes * factor)
  return { totalAudioMinutes, totalVideoMinutes, total: rounded(totalAudioMinutes + totalVideoMinutes) }
}

/** Four decimals, as on the wire. */
export function rounded(minutes: number): number {
  return Math.round(minutes * 10_000) / 10_000
}
