import type { Alerts, Episode } from './alerts.ts'
import { groupsOf, isUnrouted, newsOf, type Attempt } from './groups.ts'
import { subjectOf, type Config, type Mode, type RuleName } from './happenings.ts'
import { modelPauses } from './pauses.ts'
import { due, rankOf, type Firing, type Group, type Kind, type Notified } from './table.ts'

/** What the alerts of a group measure, by its name. */
export function subjectIn(group: string): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as alerts.ts makes it
  const [, name] = JSON.parse(group) as [unknown, RuleName | 'A']
  return name === 'A' ? name : subjectOf(name)
}

/** A message that the model sends. */
export type Sent = {
  at: number
  kind: Kind | 'unrouted'
  group: string
  news: readonly Firing[]
  ends: readonly Firing[]
  firing: readonly Firing[]
  was: readonly Episode[]
}

/** What happens to a message: whether it arrives, and whether its sender learns that. */
export type Outcome = 'ok' | 'refused' | 'down' | 'hang' | 'lost' | 'lostgone' | 'before send' | 'after send'

/** After how many seconds a sender gives up to wait for an answer. */
const TIMEOUT = 8
/** How many messages are under way at most. */
const MOST_AT_ONCE = 4
/** The cursor moves by so many seconds at least, and stays so many behind. */
const LATE_SECONDS = 60

export type CrashPoint = 'before send' | 'after send'
/** Where the process dies next, and whether it dies in this second: what other receivers are sent then does not leave it. */
export type Crash = { next: () => CrashPoint | undefined; isDying: () => boolean }
export type Around = { alerts: Alerts; config: () => Config; crash: Crash }
export type Answers = { mode: Mode; refuses: string | undefined }

export type Receiver = ReturnType<typeof modelReceiver>

/** A receiver, what it was notified of by the daemon's knowledge, and what is delivered to it. */
export function modelReceiver(
  name: string,
  { alerts, config, crash }: Around,
  answers: Answers,
  sent: (message: Sent, outcome: Outcome) => void,
) {
  const now = alerts.now
  let notified: Notified[] = []
  let attempts: Attempt[] = []
  let cursor = now()
  let pauses = modelPauses()
  let tried = new Map<string, number>()
  let hanging: { group: string; until: number }[] = []
  /** Since when nothing suppresses an alert, as this process knows; undefined: it has not looked yet. */
  let free: Map<Episode, number> | undefined

  const isUnanswered = (episode: Episode) => attempts.some(({ begun }) => begun.some((one) => one.episode === episode))
  /** Whether an episode that has ended untold needs word. */
  const needsWord = (episode: Episode): boolean => {
    if ((episode.until ?? 0) <= cursor || !alerts.isSentTo(episode, name)) return false
    if (notified.some((one) => one.episode === episode) || isUnanswered(episode)) return false
    return (episode.free.get(name) ?? 0) > config().wait
  }
  const isOpen = (episode: Episode) => notified.some((one) => one.episode === episode && one.end === undefined)

  /** The cursor passes each end that needs no word. */
  function moveCursor(): void {
    const needed = alerts.all().filter((one) => isOpen(one) || isUnanswered(one) || needsWord(one))
    const next = Math.min(now() - LATE_SECONDS, ...needed.map(({ until = Infinity }) => until - 1))
    if (next - cursor >= LATE_SECONDS) cursor = next
    const isKept = ({ end, episode }: Notified) =>
      end === undefined || now() - end < config().interval || (episode.until ?? Infinity) > cursor
    notified = notified.filter(isKept)
  }

  function look(): Map<string, Group> {
    const before = free
    const next = new Map<Episode, number>()
    const freeSince = (episode: Episode) => {
      const first = now() - Math.min(episode.free.get(name) ?? 0, before === undefined ? Infinity : 1)
      const since = before?.get(episode) ?? first
      next.set(episode, since)
      return since
    }
    free = next
    return groupsOf(alerts, { name, notified, attempts, freeSince, needsWord })
  }

  function outcomeOf(group: string): Outcome {
    if (crash.isDying() || crash.next() === 'before send') return 'before send'
    const { mode, refuses } = answers
    if (mode === 'down' || mode === 'hang') return mode
    if (subjectIn(group) === refuses) return 'refused'
    return mode === 'ok' && crash.next() === 'after send' ? 'after send' : mode
  }

  /** The daemon learns the outcome of a message. */
  function settle(pause: string, outcome: Outcome, then: { accepted: () => void; failed: () => void }): void {
    if (outcome === 'ok') {
      pauses.accepted(pause)
      then.accepted()
    }
    if (outcome === 'down') pauses.unreachable(now())
    if (outcome === 'down' || outcome === 'refused') then.failed()
    if (outcome === 'refused') pauses.failed(pause, now(), true)
    if (outcome === 'lost' || outcome === 'lostgone') pauses.failed(pause, now(), false)
    if (outcome === 'hang') hanging.push({ group: pause, until: now() + TIMEOUT })
  }

  /** What an accepted message says settles what attempts without an answer have said. An earlier episode of its alerts is told, too. */
  function settleAttempts({ news, firing, ends, at }: Sent): void {
    const said = [...news, ...firing, ...ends]
    const isSaid = ({ key }: Firing) => said.some((one) => one.key === key)
    const begun = new Map(attempts.flatMap((attempt) => attempt.begun).map((one) => [one.episode, one]))
    for (const one of begun.values())
      if (isSaid(one) && !said.some(({ episode }) => episode === one.episode)) notified.push({ ...one, at, end: at })
    const rest = (list: Firing[]) => list.filter((one) => !isSaid(one))
    attempts = attempts.map((attempt) => ({ begun: rest(attempt.begun), ended: rest(attempt.ended) }))
    attempts = attempts.filter((attempt) => attempt.begun.length + attempt.ended.length > 0)
  }

  /** What the receiver knows after a message that it accepted. */
  function move({ group, firing, ends, was, at }: Sent): void {
    const openOf = (key: string) => notified.find((one) => one.key === key && one.end === undefined)
    for (const one of ends) {
      const known = openOf(one.key)
      if (known === undefined) notified.push({ ...one, at, end: at })
      else Object.assign(known, { end: at, at })
    }
    for (const one of firing) {
      const known = openOf(one.key)
      if (known !== undefined && known.episode === one.episode) Object.assign(known, { at, severity: one.severity })
      else {
        if (known !== undefined) Object.assign(known, { end: at, at })
        notified.push({ ...one, at })
      }
    }
    for (const episode of was)
      notified.push({ key: episode.key, target: episode.target, severity: alerts.severity(episode), episode, freeSince: at, at, end: at }) // oxfmt-ignore
    for (const one of notified) if (one.end === undefined && alerts.groupOf(one.episode) === group) one.at = at
  }

  function send(key: string, kind: Kind, group: Group): void {
    const message: Sent = { at: now(), kind, group: key, ...newsOf(group) }
    const attempt: Attempt = { begun: [...message.news], ended: [...message.ends] }
    attempts.push(attempt)
    tried.set(key, now())
    const outcome = outcomeOf(key)
    sent(message, outcome)
    const failed = () => void (attempts = attempts.filter((one) => one !== attempt))
    const accepted = () => {
      failed()
      settleAttempts(message)
      move(message)
    }
    settle(key, outcome, { accepted, failed })
  }

  /** Tells that what still fires is no longer sent here, of one group. */
  function tellUnrouted(): void {
    const own = notified.filter((one) => isUnrouted(alerts, name, one))
    const worstFirst = own.toSorted((a, b) => rankOf([{ severity: alerts.severity(b.episode) }]) - rankOf([{ severity: alerts.severity(a.episode) }])) // oxfmt-ignore
    const all = Map.groupBy(worstFirst, ({ episode }) => alerts.groupOf(episode))
    const [next] = [...all].filter(([key]) => isFree(`unrouted ${key}`))
    if (next === undefined) return
    const [key, told] = next
    const outcome = outcomeOf(key)
    sent({ at: now(), kind: 'unrouted', group: key, news: [], ends: told, firing: [], was: [] }, outcome)
    const accepted = () => told.forEach((one) => Object.assign(one, { end: now() }))
    settle(`unrouted ${key}`, outcome, { accepted, failed: () => undefined })
  }

  const isFree = (key: string) => pauses.until(key) <= now() && hanging.every(({ group }) => group !== key)

  /** The message that is due: that of the most severe group, of these of the longest untried. */
  function dueAmong(groups: ReadonlyMap<string, Group>) {
    const pending = new Set([...alerts.pending].map((target) => alerts.groupOf({ target, rule: 'OUT' })))
    const all = [...groups].flatMap(([key, group]) => {
      const kind = due(group, { ...config(), isPending: pending.has(key) }, now())
      const was = group.was.map((episode) => ({ severity: alerts.severity(episode) }))
      const maybe = group.attempts.flatMap(({ begun }) => begun)
      const rank = rankOf([...group.firing, ...group.notified, ...was, ...maybe])
      return kind === undefined || !isFree(key) ? [] : { key, kind, group, rank, at: tried.get(key) ?? -1 }
    })
    return all.toSorted((a, b) => b.rank - a.rank || a.at - b.at)[0]
  }

  return {
    name,
    answers,
    notified: () => notified,
    pausedUntil: () => pauses.wholeUntil(),
    busyUntil: () => Math.max(0, ...hanging.map(({ until }) => until)),
    nextOf: (group: string) => pauses.until(group),
    /** It is configured anew. */
    reload: () => void (free = undefined),
    /** The process that delivers starts again. */
    restart: () => {
      pauses = modelPauses()
      tried = new Map()
      hanging = []
      free = undefined
    },
    /** What is due in a second: one message. */
    deliver: (): void => {
      for (const { group, until } of hanging) if (until <= now()) pauses.failed(group, until, false)
      hanging = hanging.filter(({ until }) => until > now())
      moveCursor()
      const groups = look()
      pauses.keep((key) => groups.has(key) || key.startsWith('unrouted') || hanging.some(({ group }) => group === key))
      if (pauses.wholeUntil() > now() || hanging.length >= MOST_AT_ONCE) return
      const next = dueAmong(groups)
      if (next === undefined) tellUnrouted()
      else send(next.key, next.kind, next.group)
    },
  }
}
