import type { Alerts, Episode } from './alerts.ts'
import { rankOf, type Firing, type Group, type Notified } from './table.ts'

/** An attempt without an answer: what it may have said. */
export type Attempt = { begun: Firing[]; ended: Firing[] }

/** What a receiver knows, by the daemon's knowledge, and what of the alerts is for it. */
export type ReceiverState = {
  name: string
  notified: readonly Notified[]
  attempts: readonly Attempt[]
  /** Since when nothing suppresses an alert. */
  freeSince: (episode: Episode) => number
  needsWord: (episode: Episode) => boolean
}

type Own = {
  firing: Firing[]
  quiet: Firing[]
  notified: Notified[]
  attempts: { begun: Firing[]; ended: Set<number> }[]
  was: Episode[]
}

/** Whether an alert that was told still fires, but is not sent to the receiver any more. */
export const isUnrouted = (alerts: Alerts, name: string, { end, episode }: Notified) =>
  end === undefined && episode.until === undefined && !alerts.isSentTo(episode, name)

/** The groups of a receiver by the configuration of now, by their names. */
export function groupsOf(alerts: Alerts, { name, notified, attempts, freeSince, needsWord }: ReceiverState) {
  const all = new Map<string, Own>()
  const of = (episode: Episode): Own => {
    const key = alerts.groupOf(episode)
    const known = all.get(key) ?? { firing: [], quiet: [], notified: [], attempts: [], was: [] }
    all.set(key, known)
    return known
  }
  for (const episode of alerts.all().toSorted((a, b) => a.target - b.target)) {
    if (episode.until !== undefined || !alerts.isSentTo(episode, name)) continue
    const isQuiet = alerts.isSuppressed(episode, name)
    const { key, target } = episode
    const since = isQuiet ? Infinity : freeSince(episode)
    of(episode)[isQuiet ? 'quiet' : 'firing'].push({ key, target, severity: alerts.severity(episode), episode, freeSince: since }) // oxfmt-ignore
  }
  for (const one of notified) if (!isUnrouted(alerts, name, one)) of(one.episode).notified.push(one)
  for (const { begun, ended } of attempts) {
    const own = Map.groupBy([...begun, ...ended], ({ episode }) => alerts.groupOf(episode))
    for (const list of own.values()) {
      const group = of(list[0]!.episode)
      const maybe = begun.filter((one) => list.includes(one))
      // What is no longer sent here may still fire.
      for (const one of maybe)
        if (one.episode.until === undefined && !alerts.isSentTo(one.episode, name)) group.quiet.push(one)
      group.attempts.push({
        begun: maybe,
        ended: new Set(ended.filter((one) => list.includes(one)).map(({ episode }) => episode.id)),
      })
    }
  }
  for (const episode of alerts.all()) if (needsWord(episode)) of(episode).was.push(episode)
  return all
}

/** What a message says of a group. */
export function newsOf({ firing, quiet, notified, attempts, was }: Group) {
  const maybeEnded = new Set(attempts.flatMap(({ ended }) => [...ended]))
  const open = notified.filter(({ end }) => end === undefined)
  const isKnown = (one: Firing) =>
    open.some(
      (each) =>
        each.key === one.key &&
        rankOf([one]) <= rankOf([each]) &&
        !(maybeEnded.has(each.episode.id) && each.episode !== one.episode),
    )
  const live = new Set([...firing, ...quiet].map((one) => one.key))
  const closing: Firing[] = [...attempts.flatMap(({ begun }) => begun), ...open]
  const ends = [...new Map(closing.map((one) => [one.key, one])).values()].filter((one) => !live.has(one.key))
  const untold = was.filter((episode) => !ends.some((one) => one.episode === episode))
  return { news: firing.filter((one) => !isKnown(one)), ends, firing, was: untold }
}
