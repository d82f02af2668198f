import type { Alerts, Episode } from './alerts.ts'
import type { Config, Mode } from './happenings.ts'
import { due, type Firing, type Group, type Kind, type Notified } from './table.ts'

/** The subject of a group, by its name. */
export function subjectIn(group: string): unknown {
  const parts: unknown = JSON.parse(group)
  return Array.isArray(parts) ? parts[1] : undefined
}

/** A message that the model sends. */
export type Sent = {
  at: number
  kind: Kind
  group: string
  news: readonly Firing[]
  ends: readonly Firing[]
  firing: readonly Firing[]
  was: readonly Episode[]
}

/** What happens to a message: whether it arrives, and whether its sender learns that. */
export type Outcome = 'ok' | 'refused' | 'down' | 'hang' | 'lost' | 'lostgone' | 'before send' | 'after send'

/** An attempt without an answer: what it may have said. */
type Attempt = { begun: Firing[]; ended: Firing[] }
type Tried = { failures: number; at: number; next: number }

const LONGEST_DELAY = 60
/** After how many seconds a sender gives up to wait for an answer. */
const TIMEOUT = 8

export type Receiver = ReturnType<typeof modelReceiver>

/** A receiver, what it was notified of by the daemon's knowledge, and what is delivered to it. */
export function modelReceiver(
  name: string,
  {
    alerts,
    config,
    crash,
  }: { alerts: Alerts; config: () => Config; crash: { next: () => 'before send' | 'after send' | undefined } },
  on: { sent: (message: Sent, outcome: Outcome) => void; unrouted: (one: Notified) => void },
) {
  let notified: Notified[] = []
  let attempts: Attempt[] = []
  let cursor = alerts.ends()
  let tried = new Map<string, Tried>()
  let [pausedUntil, busyUntil, failures] = [0, 0, 0]
  let mode: Mode = 'ok'
  let refuses: string | undefined
  const now = alerts.now

  const delay = (times: number) => Math.min(LONGEST_DELAY, 2 ** times)
  const isUnanswered = (episode: Episode) => attempts.some(({ begun }) => begun.some((one) => one.episode === episode))
  /** Whether an episode that has ended untold needs word. */
  const needsWord = (episode: Episode): boolean => {
    if ((episode.endSeq ?? 0) <= cursor || !alerts.isSentTo(episode, name)) return false
    if (notified.some((one) => one.episode === episode) || isUnanswered(episode)) return false
    return (episode.free.get(name) ?? 0) > config().wait
  }
  const isOpen = (episode: Episode) => notified.some((one) => one.episode === episode && one.end === undefined)

  /** The cursor passes each end that needs no word. */
  function moveCursor(): void {
    const ended = alerts.all().filter(({ endSeq = 0 }) => endSeq > cursor)
    for (const episode of ended.toSorted((a, b) => a.endSeq! - b.endSeq!)) {
      if (isOpen(episode) || isUnanswered(episode) || needsWord(episode)) break
      cursor = episode.endSeq!
    }
    const isKept = ({ end, episode }: Notified) =>
      end === undefined || now() - end < config().interval || (episode.endSeq ?? Infinity) > cursor
    notified = notified.filter(isKept)
  }

  function unroute(): void {
    for (const one of notified)
      if (
        one.end === undefined &&
        one.episode.until === undefined &&
        !alerts.isSentTo(one.episode, name) &&
        mode === 'ok'
      ) {
        Object.assign(one, { end: now(), isGone: true })
        on.unrouted(one)
      }
  }

  function groups(): Map<string, Group> {
    const all = new Map<
      string,
      {
        firing: Firing[]
        quiet: Firing[]
        notified: Notified[]
        attempts: { begun: Firing[]; ended: Set<number> }[]
        was: Episode[]
      }
    >()
    const of = (episode: Episode) => {
      const key = alerts.groupOf(episode)
      const known = all.get(key) ?? { firing: [], quiet: [], notified: [], attempts: [], was: [] }
      all.set(key, known)
      return known
    }
    for (const episode of alerts.all()) {
      if (episode.until !== undefined || !alerts.isSentTo(episode, name)) continue
      const { key, target, freeSince } = episode
      const firing = {
        key,
        target,
        severity: alerts.severity(episode),
        episode,
        freeSince: freeSince.get(name) ?? now(),
      }
      of(episode)[alerts.isSuppressed(episode, name) ? 'quiet' : 'firing'].push(firing)
    }
    for (const one of notified) if (one.isGone === undefined) of(one.episode).notified.push(one)
    for (const { begun, ended } of attempts) {
      const own = Map.groupBy([...begun, ...ended], ({ episode }) => alerts.groupOf(episode))
      for (const list of own.values())
        of(list[0]!.episode).attempts.push({
          begun: begun.filter((one) => list.includes(one)),
          ended: new Set(ended.filter((one) => list.includes(one)).map(({ episode }) => episode.id)),
        })
    }
    for (const episode of alerts.all()) if (needsWord(episode)) of(episode).was.push(episode)
    return all
  }

  function compose(key: string, kind: Kind, group: Group): Sent {
    const { firing, quiet, was } = group
    const maybeEnded = new Set(group.attempts.flatMap(({ ended }) => [...ended]))
    const open = group.notified.filter(({ end }) => end === undefined)
    const isKnown = (one: Firing) =>
      open.some((each) => each.key === one.key && !(maybeEnded.has(each.episode.id) && each.episode !== one.episode))
    const live = new Set([...firing, ...quiet].map((one) => one.key))
    const closing: Firing[] = [...open, ...group.attempts.flatMap(({ begun }) => begun)]
    const ends = [...new Map(closing.toReversed().map((one) => [one.key, one])).values()].toReversed()
    const over = ends.filter((one) => !live.has(one.key))
    const untold = was.filter((episode) => !over.some((one) => one.episode === episode))
    return { at: now(), kind, group: key, news: firing.filter((one) => !isKnown(one)), ends: over, firing, was: untold }
  }

  function outcomeOf(message: Sent): Outcome {
    if (crash.next() === 'before send') return 'before send'
    if (mode === 'down' || mode === 'hang') return mode
    if (subjectIn(message.group) === refuses) return 'refused'
    return mode === 'ok' && crash.next() === 'after send' ? 'after send' : mode
  }

  /** The daemon learns the outcome of a message. Returns whether it may send the next one. */
  function settle(message: Sent, outcome: Outcome, attempt: Attempt): boolean {
    const again = tried.get(message.group)?.failures ?? 0
    const failed = () =>
      void tried.set(message.group, { failures: again + 1, at: now(), next: now() + delay(again + 1) })
    const forget = () => void (attempts = attempts.filter((one) => one !== attempt))
    if (outcome === 'down') {
      forget()
      failures += 1
      pausedUntil = now() + delay(failures)
      return false
    }
    failures = 0
    if (outcome !== 'ok') failed()
    if (outcome === 'refused') forget()
    if (outcome === 'hang') busyUntil = now() + TIMEOUT
    if (outcome !== 'ok') return outcome !== 'hang'
    tried.set(message.group, { failures: 0, at: now(), next: 0 })
    forget()
    settleAttempts(message)
    move(message)
    return true
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
        if (known !== undefined) known.end = at
        notified.push({ ...one, at })
      }
    }
    for (const episode of was)
      notified.push({ key: episode.key, target: episode.target, severity: alerts.severity(episode), episode, freeSince: at, at, end: at }) // oxfmt-ignore
    for (const one of notified) if (one.end === undefined && alerts.groupOf(one.episode) === group) one.at = at
  }

  return {
    name,
    mode: () => mode,
    refuses: () => refuses,
    notified: () => notified,
    pausedUntil: () => pausedUntil,
    busyUntil: () => busyUntil,
    nextOf: (group: string) => tried.get(group)?.next ?? 0,
    answer: (next: Mode) => void (mode = next),
    refuse: (subject: string | undefined) => void (refuses = subject),
    /** It was removed, and is added again: it hears nothing of before. */
    add: () => void (cursor = alerts.ends()),
    /** The process that delivers starts again. */
    restart: () => {
      tried = new Map()
      pausedUntil = 0
      busyUntil = 0
    },
    /** What is due in a second, the longest untried first. */
    deliver: (): void => {
      moveCursor()
      unroute()
      if (busyUntil > now() || pausedUntil > now()) return
      const all = [...groups()].filter(([key]) => (tried.get(key)?.next ?? 0) <= now())
      for (const [key, group] of all.toSorted(([a], [b]) => (tried.get(a)?.at ?? 0) - (tried.get(b)?.at ?? 0))) {
        const isOutage = subjectIn(key) === 'OUT'
        const kind = due(group, { ...config(), isPending: isOutage && alerts.pending.size > 0 }, now())
        if (kind === undefined) continue
        const message = compose(key, kind, group)
        const attempt: Attempt = { begun: [...message.news], ended: [...message.ends] }
        attempts.push(attempt)
        const outcome = outcomeOf(message)
        on.sent(message, outcome)
        if (outcome === 'before send' || outcome === 'after send') return
        if (!settle(message, outcome, attempt)) return
      }
    },
  }
}
