import type { Alerts, Episode } from './alerts.ts'
import type { Config, Severity } from './happenings.ts'
import { subjectIn, type Outcome, type Receiver, type Sent } from './receiver.ts'
import { rankOf } from './table.ts'

/**
 * What holds for the messages that a receiver gets, and for what it knows by them:
 *
 * - L1: what fires and nothing suppresses is told in time, what is more severe at once
 * - L2: an end is told in time, and never of what fires
 * - L3: nothing is told twice, unless an answer was lost
 * - L4: a group has few messages in an interval
 * - L6: what began and ended meanwhile is told once, and not of before the receiver was added
 * - L7: what was suppressed all the time is not told
 */
export type Law = 'L1' | 'L2' | 'L3' | 'L4' | 'L6' | 'L7'
export type Violation = { law: Law; receiver: string; at: number; text: string }

/** Messages that did not arrive, or were refused. */
const GONE: readonly Outcome[] = ['down', 'refused', 'lostgone', 'before send']
/** Rounding, and the messages of other groups, of which one is sent a second. */
const SLACK = 8
const OUTAGE_SECONDS = 30
/** A message that was refused is tried again after this at most. */
const RETRIED_SECONDS = 302
const MOST_IN_INTERVAL = 3

/** `isSure`: the daemon has an answer to a message that said so. */
type Known = { episode: Episode; severity: Severity; isSure: boolean }

/** What a receiver knows. */
type Person = {
  known: Map<string, Known>
  got: { at: number; kind: Sent['kind']; group: string; rank: number }[]
  addedAt: number
  /** Until when it could not be told all, and until when one group could not. */
  disturbed: number
  groups: Map<string, number>
  unanswered: number
}

const add = <K>(counts: Map<K, number>, key: K, by: number) => void counts.set(key, (counts.get(key) ?? 0) + by)

/** Checks all messages and each second of a history. */
export function modelLaws(alerts: Alerts, config: () => Config) {
  const people = new Map<string, Person>()
  const violations: Violation[] = []
  /** What was said of an episode to a receiver, and how often an answer about it was lost: JSON of both. */
  const said = new Map<string, Set<'begun' | 'end' | 'was'>>()
  const lost = new Map<string, number>()
  const now = alerts.now

  const personOf = (name: string) => people.get(name)!
  const saidOf = (episode: Episode, receiver: string) => {
    const key = `${receiver} ${episode.id}`
    const known = said.get(key) ?? new Set()
    said.set(key, known)
    return known
  }
  /** Whether an answer about the episode was lost that excuses a repetition. */
  const excuses = (episode: Episode, receiver: string): boolean => {
    const key = `${receiver} ${episode.id}`
    if ((lost.get(key) ?? 0) === 0) return false
    add(lost, key, -1)
    return true
  }
  const breach = (law: Law, receiver: string, text: string): void => {
    if (!violations.some((one) => one.law === law && one.receiver === receiver))
      violations.push({ law, receiver, at: now(), text })
  }

  function endsIn({ ends }: Sent, receiver: string): void {
    for (const { key, episode } of ends) {
      const fires = alerts
        .all()
        .some((one) => one.key === key && one.until === undefined && alerts.isSentTo(one, receiver))
      if (episode.until === undefined || fires) breach('L2', receiver, `the end of ${key} is told while it fires`)
      const isTwice = !personOf(receiver).known.has(key) && saidOf(episode, receiver).has('end')
      if (isTwice && !excuses(episode, receiver)) breach('L3', receiver, `the end of ${key} is told twice`)
      saidOf(episode, receiver).add('end')
      personOf(receiver).known.delete(key)
    }
  }

  function newsIn({ news, kind }: Sent, receiver: string): void {
    for (const { key, episode, severity } of news) {
      const before = personOf(receiver).known.get(key)
      const isTold = before !== undefined && rankOf([before]) >= rankOf([{ severity }])
      if (isTold && !excuses(before.episode, receiver) && !excuses(episode, receiver))
        breach('L3', receiver, `${key} is told twice as new (${kind})`)
      if ((episode.free.get(receiver) ?? 0) === 0 && alerts.isSuppressed(episode, receiver))
        breach('L7', receiver, `${key} is told, and was suppressed all the time`)
    }
  }

  function wasIn({ was }: Sent, receiver: string): void {
    for (const episode of was) {
      const { key, since, until = Infinity } = episode
      const [before, what] = [saidOf(episode, receiver), `${key} from ${since} to ${until}`]
      if (until <= personOf(receiver).addedAt) breach('L6', receiver, `${what} was before the receiver was added`)
      if ((before.has('begun') || before.has('was')) && !excuses(episode, receiver))
        breach('L6', receiver, `${what} is told again as what was`)
      if ((episode.free.get(receiver) ?? 0) === 0)
        breach('L7', receiver, `${what} is told, and was suppressed all the time`)
      before.add('was')
    }
  }

  /** A group has three messages in an interval at most, and two more for each that is more severe than all before. */
  function fewIn({ group, kind, firing }: Sent, receiver: string): void {
    const { got, unanswered, disturbed } = personOf(receiver)
    const { interval } = config()
    got.push({ at: now(), kind, group, rank: rankOf(firing) })
    const recent = got.filter((one) => one.group === group && one.at > now() - interval)
    const posts = recent.filter((one) => one.kind !== 'worse' && one.kind !== 'more')
    const breaks = posts.filter((one, i) => one.kind === 'begins' && i > 0 && one.rank === 2 && posts.slice(0, i).every(({ rank }) => rank < 2)) // oxfmt-ignore
    const isCalm = unanswered === 0 && disturbed < now() - interval
    if (isCalm && posts.length > MOST_IN_INTERVAL + 2 * breaks.length)
      breach('L4', receiver, `${posts.map(({ at, kind: each }) => `${at} ${each}`).join(', ')} of ${group}`)
  }

  function arrived(message: Sent, receiver: string, isAnswered: boolean): void {
    const { known } = personOf(receiver)
    endsIn(message, receiver)
    if (message.kind === 'ended' && message.firing.length > 0)
      breach('L2', receiver, 'all is said to be over while something fires')
    newsIn(message, receiver)
    wasIn(message, receiver)
    for (const { key, episode, severity } of message.firing) {
      const wasSure = known.get(key)?.episode === episode && known.get(key)!.isSure
      known.set(key, { episode, severity, isSure: isAnswered || wasSure })
      saidOf(episode, receiver).add('begun')
    }
    if (!isAnswered) lose(message, receiver)
    if (isAnswered) fewIn(message, receiver)
    else
      personOf(receiver).got.push({ at: now(), kind: message.kind, group: message.group, rank: rankOf(message.firing) })
  }

  function lose({ news, ends, firing, was }: Sent, receiver: string): void {
    const episodes = new Set([...news, ...ends, ...firing].map(({ episode }) => episode))
    for (const episode of [...episodes, ...was]) add(lost, `${receiver} ${episode.id}`, 1)
  }

  /** That an alert is told in time. */
  function begins(episode: Episode, receiver: Receiver, calm: number): void {
    const { wait, interval } = config()
    const { known, got } = personOf(receiver.name)
    const free = episode.freeSince.get(receiver.name)
    if (free === undefined || known.has(episode.key)) return
    const group = alerts.groupOf(episode)
    const waited = Math.min(now() - free, calm)
    const isRecent = got.some((one) => one.group === group && one.at > now() - waited - interval)
    const isTold = known.size > 0 || isRecent || receiver.notified().length > 0
    const most = (isTold ? Math.max(interval, wait) : wait) + (episode.rule === 'OUT' ? OUTAGE_SECONDS : 0) + SLACK
    if (waited > most)
      breach(
        'L1',
        receiver.name,
        `${episode.key} fires since ${episode.since}, free since ${free}, calm for ${calm}, and is not told`,
      )
    const mates = [...known.values()].filter((one) => one.isSure && alerts.groupOf(one.episode) === group)
    const isWorse =
      mates.some((one) => one.episode.until === undefined) && mates.every(({ severity }) => severity === 'warning')
    if (alerts.severity(episode) === 'critical' && isWorse && waited > SLACK)
      breach('L1', receiver.name, `${episode.key} is more severe, and not told at once`)
  }

  /** That the end of an alert is told in time. One that fires again meanwhile is over when it ends then. */
  function ends({ key }: Episode, receiver: string, calm: number): void {
    const { wait, interval } = config()
    const until = Math.max(...alerts.all().flatMap((one) => (one.key === key ? (one.until ?? Infinity) : [])))
    const waited = Math.min(now() - until, calm)
    if (personOf(receiver).known.has(key) && waited > interval + wait + 2 + SLACK)
      breach('L2', receiver, `the end of ${key} at ${until} is not told`)
  }

  return {
    violations,
    added: (receiver: string): void => {
      for (const key of said.keys()) if (key.startsWith(`${receiver} `)) said.delete(key)
      const nothing = { known: new Map(), got: [], groups: new Map(), unanswered: 0 }
      people.set(receiver, { ...nothing, addedAt: now(), disturbed: now() })
    },
    disturbed: (receiver?: string): void => {
      for (const [name, person] of people) if (receiver === undefined || name === receiver) person.disturbed = now()
    },
    /** A process has died: what waited for a pause is due now. */
    crashed: (): void => {
      for (const person of people.values())
        Object.assign(person, { unanswered: person.unanswered + 1, disturbed: now() })
    },
    /** A message was sent, with this outcome. */
    sent: (receiver: string, message: Sent, outcome: Outcome): void => {
      const person = personOf(receiver)
      if (message.kind === 'unrouted') {
        if (!GONE.includes(outcome)) for (const { key } of message.ends) person.known.delete(key)
        return
      }
      if (outcome === 'lostgone' || outcome === 'before send') lose(message, receiver)
      if (!GONE.includes(outcome)) arrived(message, receiver, outcome === 'ok')
      if (['lost', 'lostgone', 'hang'].includes(outcome)) person.unanswered += 1
    },
    /** Checks a second, after all deliveries of it. */
    check: (receiver: Receiver): void => {
      const person = personOf(receiver.name)
      const until = receiver.answers.mode === 'ok' ? receiver.pausedUntil() : now()
      person.disturbed = Math.max(person.disturbed, until, receiver.busyUntil())
      for (const episode of alerts.all()) {
        const group = alerts.groupOf(episode)
        if (receiver.answers.refuses === subjectIn(group)) person.groups.set(group, now() + RETRIED_SECONDS)
        const held = Math.max(person.groups.get(group) ?? -Infinity, receiver.nextOf(group))
        if (!alerts.isSentTo(episode, receiver.name)) continue
        const calm = now() - Math.max(person.disturbed, held, person.addedAt)
        if (episode.until === undefined) begins(episode, receiver, calm)
        else if (person.known.get(episode.key)?.episode === episode) ends(episode, receiver.name, calm)
      }
    },
  }
}
