import { instanceKey } from '../../../src/alerts/groups.ts'
import type { Notification } from '../../../src/alerts/notification.ts'
import { isoTime } from '../../../src/clock/times.ts'
import type { AlertChange } from '../../../src/views/alert.ts'
import { alertHistory } from '../history/as-shown.ts'
import type { PastAlert } from '../../../src/views/alert.ts'
import type { AlertMessage } from '../../../src/notifications/message.ts'
import { isBeyond } from '../../../src/alerts/signal.ts'
import type { RowReader } from '../../../src/store/sql.ts'

/** No group waits longer. */
const WAIT_MS = 15_000

/** That an alert began to fire, or ended. */
export type AlertTurn = { kind: 'firing' | 'resolved' | 'expired'; target: string; key: string; time: string }

/** The turns of alerts among events, in their order. */
export function turnsOf(events: readonly { type: string; time: string; data: object }[]): AlertTurn[] {
  const kinds = { firing: 'firing', resolved: 'resolved', expired: 'expired' } as const
  return events.flatMap(({ type, time, data }) => {
    const [, name = ''] = /^callwatch\.alert\.(\w+)$/.exec(type) ?? []
    if (!isKeyOf(kinds, name)) return []
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the type says
    const { target, alert, labels } = data as AlertChange
    return [{ kind: kinds[name], target, key: instanceKey(alert, labels), time }]
  })
}

function isKeyOf<T extends object>(object: T, name: string): name is keyof T & string {
  return Object.hasOwn(object, name)
}

/**
 * Where the history of alerts differs from what became of them: each time that one fired is there once, none begins before
 * the one before has ended, and none has ended that still fires.
 *
 * @param turns all that were committed, in their order for each alert
 * @param kept what ended before may be deleted (UNIX seconds)
 */
export async function episodeProblems(
  store: RowReader,
  turns: readonly AlertTurn[],
  kept = 0,
): Promise<{ problems: string[]; episodes: readonly PastAlert[] }> {
  const { alerts: episodes } = await alertHistory(store, { from: kept, to: 4e9 }, { configured: [], now: 4e9 }, 1e6)
  const problems: string[] = []
  const expected: string[] = []
  for (const [alert, changes] of Map.groupBy(turns, ({ target, key }) => `${target} ${key}`)) {
    let since: string | undefined
    for (const { kind, time } of changes) {
      if ((kind === 'firing') !== (since === undefined)) problems.push(`${alert}: ${kind} at ${time} after ${since}`)
      if (kind !== 'firing' && Date.parse(time) / 1000 >= kept)
        expected.push(`${alert} from ${since} to ${time}: ${kind}`)
      since = kind === 'firing' ? time : undefined
    }
    if (since !== undefined) expected.push(`${alert} from ${since} to null: null`)
  }
  const found = episodes.map(({ target, key, since, until, outcome }) => {
    const kind = outcome === null || outcome === 'resolved' ? outcome : 'expired'
    return `${target} ${key} from ${since} to ${until}: ${kind}`
  })
  const others = (some: readonly string[], than: readonly string[]) => some.filter((one) => !than.includes(one))
  problems.push(
    ...others(expected, found).map((one) => `not in the history of alerts: ${one}`),
    ...others(found, expected).map((one) => `only in the history of alerts: ${one}`),
  )
  for (const [alert, times] of Map.groupBy(episodes, ({ target, key }) => `${target} ${key}`)) {
    for (const [i, { since }] of times.entries()) {
      const before = times[i + 1]
      if (before !== undefined && (before.until === null || before.until > since))
        problems.push(`${alert} fires twice at ${since}`)
    }
  }
  for (const { key, since, until, values, peak, breach } of episodes) {
    const known = values.map(({ value }) => value).filter((value) => value !== null)
    const isSorted = values.every(({ at }, i) => i === 0 || at >= values[i - 1]!.at)
    const isWithin = values.every(({ at }) => at >= since && (until === null || at <= until))
    if (!isSorted || !isWithin || values.length > 100 || known.length === 0)
      problems.push(`the values of ${key} since ${since} are ${JSON.stringify(values)}`)
    // The peak is also of the time in which it was pending.
    if (known.some((value) => isBeyond({ breach }, value, peak)))
      problems.push(`the peak of ${key} since ${since} is ${peak}`)
  }
  return { problems, episodes }
}

/**
 * Where the history differs from what a receiver got, once nothing is due to it any more. A process may die between a message and its
 * note; then the end is noted.
 */
export function noticeProblems(
  episodes: readonly PastAlert[],
  accepted: readonly AlertMessage[],
  receiver: string,
): string[] {
  const kinds = ({ notified }: PastAlert) =>
    new Set(notified.filter((one) => one.receiver === receiver).map(({ kind }) => kind))
  // What was suppressed, or was over within the wait, need not be told.
  const mustBeTold = ({ since, until, suppressed }: PastAlert) =>
    suppressed.length === 0 && (until === null || Date.parse(until) - Date.parse(since) > WAIT_MS)
  const unnoted = episodes.filter((episode) => mustBeTold(episode) && !kinds(episode).has(episode.outcome ?? 'firing'))
  const got = accepted.flatMap(({ alerts }) => alerts.map(({ notification }) => notification))
  const denied = got.filter(({ target, key, kind, firingSince }: Notification) => {
    const since = isoTime(firingSince)
    const episode = episodes.find((one) => one.target === target && one.key === key && one.since === since)
    if (episode === undefined) return false
    const noted = kinds(episode)
    return ![kind, kind === 'firing' ? ('reminder' as const) : kind, episode.outcome ?? kind].some((one) =>
      noted.has(one),
    )
  })
  return [
    ...unnoted.map(({ key, since, notified }) => `notified of ${key} since ${since}: ${JSON.stringify(notified)}`),
    ...denied.map(({ key, kind, at }) => `${receiver} got that ${key} is ${kind} at ${at}, which is not noted`),
  ]
}
