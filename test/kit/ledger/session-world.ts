import type { SeenCall } from '../../../src/ledger/call.ts'
import { CREATED, seen } from './seen.ts'
import { sessionDaemon } from './session-daemon.ts'

/** A call of the session `room`. Times are seconds after the set-up; each call has another length, and so other minutes. */
export type WorldCall = {
  begins: number
  /** How long it rings; 0 for a meeting, and for a call that failed as long as it lasts. */
  rings: number
  lasts: number
  hasFailed: boolean
}

/** How the service shows the calls of the session. */
export type SessionWorld = {
  calls: readonly WorldCall[]
  /** `A`: a row for each call. `B`: the row of the latest call. `over`: a row for each call that is over. */
  form: 'A' | 'B' | 'over'
  /** `own`; `late`: 20 seconds after it was answered; `room`: one for all; `half`: every other call has its own. */
  mids: 'own' | 'late' | 'none' | 'room' | 'half'
  /** `kept`: both, and each has the first call's `initiatedAt`. `replaced`: `startedAt` in place of `initiatedAt` once it is answered. */
  times: 'both' | 'kept' | 'startedAt' | 'replaced'
  /** Get Call of a call that is open and not listed. */
  getCall: 'newest' | 'all'
  pageSize: number
  order: 'newest' | 'oldest'
  /** Whether failed calls have an `endedAt`. */
  hasFailedEnds?: boolean
  /** When callwatch polls, and whether it was restarted before. */
  polls: readonly { at: number; isRestart?: boolean; fails?: boolean }[]
}

const MID_AFTER_SECONDS = 20

/** A call as the service shows it at a time; undefined before it begins. */
function rowAt(
  { calls, mids, times, form, hasFailedEnds = true }: SessionWorld,
  n: number,
  now: number,
): SeenCall | undefined {
  const { begins, rings, lasts, hasFailed } = calls[n]!
  const answered = hasFailed ? Infinity : begins + rings
  const ends = hasFailed ? begins + lasts : answered + lasts
  const isOver = now >= ends
  if (now < begins || (form === 'over' && !isOver)) return undefined
  const at = (time: number) => (now < time ? undefined : CREATED + time)
  const started = at(answered)
  const initiated = CREATED + (times === 'kept' ? calls[0]!.begins : begins)
  const shows = {
    both: { initiatedAt: initiated, startedAt: started },
    kept: { initiatedAt: initiated, startedAt: started },
    startedAt: { startedAt: initiated },
    replaced: started === undefined ? { initiatedAt: initiated } : { startedAt: started },
  }[times]
  const hasMid = !hasFailed && now >= answered + (mids === 'late' ? MID_AFTER_SECONDS : 0)
  const mid = { own: n + 1, late: n + 1, none: undefined, room: 1, half: n % 2 === 0 ? n + 1 : undefined }[mids]
  const minutes = started === undefined ? 0 : (Math.min(now, ends) - answered) / 60
  return seen('room', isOver ? (hasFailed ? 'unanswered' : 'ended') : started === undefined ? 'initiated' : 'ongoing', {
    ...shows,
    endedAt: isOver && (hasFailedEnds || !hasFailed) ? CREATED + ends : undefined,
    mid: hasMid ? mid : undefined,
    callMinutes: { audio: minutes, video: undefined, total: undefined },
  })
}

const isOver = ({ endedAt, status }: SeenCall) => endedAt !== undefined || status === 'unanswered'

type Shown = { n: number; row: SeenCall }

function rowsAt(world: SessionWorld, now: number): Shown[] {
  const begun = world.calls.flatMap((_, n): Shown[] => {
    const row = rowAt(world, n, now)
    return row === undefined ? [] : [{ n, row }]
  })
  const rows = world.form === 'B' ? begun.slice(-1) : begun
  return world.order === 'newest' ? rows.toReversed() : rows
}

/** What callwatch counts of a world, and what it would count if it knew which row is which call. */
export function countWorld(world: SessionWorld, options?: Parameters<typeof sessionDaemon>[0]) {
  const daemon = sessionDaemon(options)
  const known = new Map<number, SeenCall>()
  const note = (shown: readonly Shown[]) => {
    for (const { n, row } of shown) known.set(n, row)
  }
  daemon.poll(0, [[]])
  for (const { at, isRestart, fails } of world.polls) {
    if (isRestart === true) daemon.crash()
    const shown = rowsAt(world, at)
    const pages = shown.length === 0 ? [[]] : chunks(shown, world.pageSize)
    daemon.poll(at, pages.map((page) => page.map(({ row }) => row)), { ok: fails !== true }) // oxfmt-ignore
    note(shown)
    const openThen = [...known].filter(([, row]) => !isOver(row)).map(([n]) => n)
    if (openThen.every((n) => shown.some((one) => one.n === n))) continue
    const answer = rowsAt(world, at)
    const got = world.getCall === 'newest' ? answer.slice(world.order === 'newest' ? 0 : -1).slice(0, 1) : answer
    daemon.get(at, got.map(({ row }) => row)) // oxfmt-ignore
    note(got)
  }
  const sorted = (minutes: (number | undefined)[]) =>
    minutes.map((value) => Math.round((value ?? 0) * 60)).toSorted((a, b) => a - b)
  const truth = [...known.values()]
  const calls = [...daemon.state.calls.values(), ...daemon.history.values()]
  return {
    counted: {
      started: daemon.started(),
      finished: daemon.finished(),
      seconds: sorted(calls.map(({ minutes }) => minutes[0])),
    },
    truth: {
      started: truth.length,
      finished: truth.filter(isOver).length,
      seconds: sorted(truth.map(({ callMinutes }) => callMinutes.audio)),
    },
    daemon,
  }
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}
