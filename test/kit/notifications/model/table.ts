import type { Severity } from './happenings.ts'
import type { Episode } from './alerts.ts'

/** What a message to a receiver is for. */
export type Kind = 'begins' | 'worse' | 'more' | 'changed' | 'reminder' | 'ended' | 'was'

/** An alert that fires, as a receiver may be told of it. */
export type Firing = {
  key: string
  target: number
  severity: Severity
  episode: Episode
  /** Since when nothing suppresses it for the receiver. */
  freeSince: number
}

/** An alert of which a receiver was told, when it was, and when it was told the end. */
export type Notified = Firing & { at: number; end?: number }

/** What an attempt without an answer has said of a group. */
export type Unanswered = { begun: readonly Firing[]; ended: ReadonlySet<number> }

/** All that decides about the message to a receiver about a group. */
export type Group = {
  /** What fires and nothing suppresses, and what fires and is suppressed. */
  firing: readonly Firing[]
  quiet: readonly Firing[]
  notified: readonly Notified[]
  attempts: readonly Unanswered[]
  was: readonly Episode[]
}

export type Settings = {
  wait: number
  interval: number
  repeat: number
  targets: number
  /** Whether an outage is pending on further targets. */
  isPending: boolean
}

/** How long an outage waits for further targets (seconds), and *more* after the last message. */
const OUTAGE_SECONDS = 30
const MORE_AFTER_SECONDS = 60
const GROWTH = 4

const RANK = { warning: 1, critical: 2 } as const
export const rankOf = (list: readonly { severity: Severity }[]): number =>
  Math.max(-Infinity, ...list.map(({ severity }) => RANK[severity]))
const targetsOf = (list: readonly { target: number }[]) => new Set(list.map(({ target }) => target)).size

/** The message that is due to a receiver about a group at a time (seconds), by the table of notifying. */
export function due(group: Group, settings: Settings, now: number): Kind | undefined {
  const state = stateOf(group, now)
  const { open, firing, closing, all, over } = state
  if (open.length === 0 && firing.length > 0) {
    if (begins(state, settings, now)) return 'begins'
    if (group.attempts.length === 0 || over.length === 0) return undefined
  }
  if (open.length > 0 && all.length > 0) return later(state, settings)
  if (closing.length > 0 && all.length === 0) return 'ended'
  if (closing.length > 0 && over.length > 0 && open.length === 0) return 'changed'
  const isQuiet = open.length === 0 && firing.length === 0
  return group.was.length > 0 && isQuiet && state.last >= settings.interval ? 'was' : undefined
}

type State = ReturnType<typeof stateOf>

function stateOf({ firing, quiet, notified, attempts, was }: Group, now: number) {
  const maybeEnded = new Set(attempts.flatMap(({ ended }) => [...ended]))
  const open = notified.filter(({ end }) => end === undefined)
  const known = new Set(open.filter(({ episode }) => !maybeEnded.has(episode.id)).map(({ key }) => key))
  const closing: readonly Firing[] = [
    ...open,
    ...attempts.flatMap(({ begun }) => begun.filter(({ key }) => !known.has(key))),
  ]
  const all = [...firing, ...quiet.filter((one) => closing.some(({ key }) => key === one.key))]
  const keys = new Set(all.map(({ key }) => key))
  return {
    firing,
    notified,
    was: was.length,
    open,
    /** What the receiver knows to fire, whatever the unanswered attempts have said. */
    known,
    closing,
    /** What fires of what counts. */
    all,
    /** What it may know, and has ended. */
    over: closing.filter(({ key }) => !keys.has(key)),
    /** How long the last message was ago. */
    last: Math.min(Infinity, ...notified.map(({ at }) => now - at)),
  }
}

function begins({ firing, notified, last }: State, { wait, interval, isPending }: Settings, now: number): boolean {
  const recent = notified.filter(({ end }) => end !== undefined && now - end < interval)
  const lastTold = recent.filter(({ at }) => now - at === last)
  const isBeyond = rankOf(firing) > rankOf(recent) || targetsOf(firing) >= GROWTH * targetsOf(lastTold)
  if (recent.length > 0 && last < interval && !isBeyond) return false
  const waited = Math.max(...firing.map(({ freeSince }) => now - freeSince))
  return waited >= (isPending ? wait + OUTAGE_SECONDS : wait)
}

/** What is due while something fires of which the receiver was told. */
function later(state: State, { interval, repeat, targets }: Settings): Kind | undefined {
  const { open, firing, all, known, over, was, last } = state
  if (rankOf(firing) > rankOf(open)) return 'worse'
  const told = all.filter((one) => firing.includes(one) || open.some(({ key }) => key === one.key))
  const [before, after] = [targetsOf(open), targetsOf(told)]
  if (last >= MORE_AFTER_SECONDS && after > before && (after >= GROWTH * before || after === targets)) return 'more'
  if (over.length > 0 || firing.some(({ key }) => !known.has(key))) return last >= interval ? 'changed' : undefined
  if (was > 0 && last >= interval) return 'was'
  return firing.length > 0 && last >= repeat ? 'reminder' : undefined
}
