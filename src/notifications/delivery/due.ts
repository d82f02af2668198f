import { bySeverity, isMoreSevere, type Severity } from '../../alerts/match-keys.ts'

/** Of what a message tells, by the table of `due`. */
export const KINDS = ['begins', 'worse', 'more', 'changed', 'reminder', 'ended', 'was'] as const
export type Kind = (typeof KINDS)[number]

/** An alert that fires. */
export type Fires = { name: string; target: string; severity: Severity }

/** An alert of which the receiver was notified. Times are monotonic seconds. */
export type Heard = Fires & {
  episode: string
  /** When the latest message of its group was accepted. */
  heardAt: number
  /** When its end was notified; undefined: it was not. */
  endedAt: number | undefined
}

/** A message without an answer: of which alerts it may have said that they fire, and of which that they ended. */
export type Unanswered = { begun: readonly Heard[]; ended: readonly Heard[] }

/** A group of alerts for a receiver: what fires and nothing suppresses, what fires and something does, and what the receiver knows. */
export type Situation = {
  firing: readonly Fires[]
  quiet: readonly Fires[]
  heard: readonly Heard[]
  unanswered: readonly Unanswered[]
  /** How many episodes began and ended untold, and had waited. */
  was: number
  /** For how long nothing has suppressed the alert that has waited longest (seconds). It matters only where nothing is notified. */
  waited: number
  /** The monotonic clock (seconds). */
  now: number
  /** `group_wait`, `group_interval` and the rule's `repeat` (seconds). */
  wait: number
  interval: number
  repeat: number
  /** How many targets there are. */
  targets: number
  /** Whether polls of other targets are overdue, too: an outage is told whole. */
  isSpreading: boolean
}

/** Whether an age has reached a limit (seconds). Notes when it will. */
export type Reached = (age: number, limit: number) => boolean

/** While an outage spreads, it is told so much later (seconds). */
const SPREADING_SECONDS = 30
/** Growth is told so long after the last message (seconds), on so many times the targets, or on all. */
const GROWTH_SECONDS = 60
const GROWTH = 4

/**
 * Which message about a group is due; undefined: none. Nothing else decides. Pure.
 *
 * | Of a group it was notified | Now fires | It gets | When |
 * |---|---|---|---|
 * | nothing | something | `begins` | one of them has waited, and the group's last message is an interval ago, unless this is more severe or on four times as many targets |
 * | something | something more severe | `worse` | at once |
 * | something | more targets than it was told: four times as many, or all that there are | `more` | a minute after the last message |
 * | something | other alerts, more or fewer | `changed` | an interval after the last message |
 * | something | the same | `reminder` | after the rule's `repeat` |
 * | something | nothing | `ended` | at once |
 * | anything | – | `was`: what began and ended untold, and had waited | with the group's next message; alone, an interval after the last |
 *
 * What was told fires until it has ended, whatever suppresses it. What an attempt without an answer said counts as told for whatever
 * says the opposite.
 */
export function due(group: Situation, reached: Reached): Kind | undefined {
  const { firing, quiet, heard, was, interval, now } = group
  const open = heard.filter(({ endedAt }) => endedAt === undefined)
  const { known, claimed } = claimsOf(group, open)
  const live = new Set([...firing, ...quiet].map(({ name }) => name))
  const isOver = claimed.some(({ name }) => !live.has(name))
  const lasts = firing.length > 0 || claimed.some(({ name }) => live.has(name))
  const last = now - lastOf(heard)
  if (open.length > 0 && lasts) return whileItLasts(group, { open, known, isOver, last }, reached)
  if (open.length === 0 && firing.length > 0 && mayBegin(group, last, reached)) return 'begins'
  if (isOver) return lasts ? 'changed' : 'ended'
  return firing.length === 0 && was > 0 && reached(last, interval) ? 'was' : undefined
}

/** What is told and whose end is not, what of it is certain, whether any of it is over, and how long ago the last message was. */
type Lasting = {
  open: readonly Heard[]
  known: ReadonlySet<string>
  isOver: boolean
  last: number
}

function whileItLasts(group: Situation, { open, known, isOver, last }: Lasting, reached: Reached): Kind | undefined {
  const { firing, quiet, interval, targets } = group
  if (isWorse(firing, open)) return 'worse'
  const told = new Set(open.map(({ name }) => name))
  const [before, now] = [targetsOf(open), targetsOf([...firing, ...quiet.filter(({ name }) => told.has(name))])]
  const isMore = now > before && (now >= GROWTH * before || now === targets)
  if (isMore && reached(last, GROWTH_SECONDS)) return 'more'
  // What is suppressed needs no word that it fires, whatever an attempt without an answer has said of it.
  const differs = isOver || firing.some(({ name }) => !known.has(name))
  if (differs) return reached(last, interval) ? 'changed' : undefined
  return atRest(group, last, reached)
}

/** What fires is what was told. */
function atRest({ firing, was, interval, repeat }: Situation, last: number, reached: Reached): Kind | undefined {
  if (was > 0 && reached(last, interval)) return 'was'
  return firing.length > 0 && reached(last, repeat) ? 'reminder' : undefined
}

/** What the receiver knows to fire for certain, by name; and what it knows or may know, each once. */
export function claimsOf<One extends Heard>(
  { unanswered }: { unanswered: readonly { begun: readonly One[]; ended: readonly Heard[] }[] },
  open: readonly One[],
) {
  const mayHaveEnded = new Set(unanswered.flatMap(({ ended }) => ended.map(({ episode }) => episode)))
  const known = new Set(open.filter(({ episode }) => !mayHaveEnded.has(episode)).map(({ name }) => name))
  const maybe = unanswered.flatMap(({ begun }) => begun).filter(({ name }) => !known.has(name))
  const claimed = maybe.length === 0 ? open : [...new Map([...maybe, ...open].map((one) => [one.name, one])).values()]
  return { known, claimed, mayHaveEnded }
}

/** Whether the beginning has waited, and no message of the group was sent lately, or that one was much less. */
function mayBegin(group: Situation, last: number, reached: Reached): boolean {
  const { firing, heard, wait, interval, isSpreading, waited, now } = group
  if (!reached(waited, isSpreading ? wait + SPREADING_SECONDS : wait)) return false
  const recent = heard.filter(({ endedAt }) => endedAt !== undefined && !reached(now - endedAt, interval))
  if (recent.length === 0 || isWorse(firing, recent)) return true
  const latest = lastOf(heard)
  const told = recent.filter(({ heardAt }) => heardAt === latest)
  return targetsOf(firing) >= GROWTH * targetsOf(told) || reached(last, interval)
}

const lastOf = (heard: readonly Heard[]) => heard.reduce((latest, { heardAt }) => Math.max(latest, heardAt), -Infinity)

const targetsOf = (alerts: readonly Fires[]) => new Set(alerts.map(({ target }) => target)).size

const worstOf = (alerts: readonly Fires[]) => alerts.reduce((worst, one) => (bySeverity(one, worst) < 0 ? one : worst))

const isWorse = (firing: readonly Fires[], before: readonly Fires[]) =>
  firing.length > 0 && isMoreSevere(worstOf(firing), worstOf(before))
