import type { PastAlert } from '../../../src/views/alert.ts'
import type { Accepted, FailingSlack } from './failing-slack.ts'

export type MessageComparison = {
  distinct: number
  lost: number
  /** Repeated messages. */
  duplicates: number
  /** What is wrong, a line each. */
  problems: string[]
}

/**
 * Compares what the channel accepted with the alerts that fired. Of each alert a beginning and an end alternate. The same twice is one
 * repeated message: of an attempt without an answer, or of a process that died. Each alert that fired and that nothing suppressed is noted
 * as told.
 *
 * @param episodes those of the history
 * @param receiver its name there
 */
export function compareMessages(
  attempts: FailingSlack['attempts'],
  episodes: readonly PastAlert[],
  receiver: string,
): MessageComparison {
  const problems: string[] = []
  const last = new Map<string, Accepted>()
  /** Alerts with an attempt without an answer since their last accepted message. */
  const unanswered = new Set<string>()
  let duplicates = 0
  for (const { message, accepted } of attempts) {
    const { alert, kind, cycles, life } = message
    if (kind === 'store' || kind === 'report') continue
    if (!accepted) {
      unanswered.add(alert)
      continue
    }
    const before = last.get(alert)
    const mayRepeat = unanswered.delete(alert) || life !== (before?.life ?? 1)
    if (kind === 'flapped') continue
    last.set(alert, message)
    if ((kind === 'firing') !== (before?.kind === 'firing') || cycles > 0) continue
    duplicates += 1
    if (!mayRepeat) problems.push(`${alert}: ${kind} after ${before?.kind ?? 'nothing'}`)
  }
  for (const { alert, kind } of last.values())
    if (kind === 'firing') problems.push(`the end of ${alert} was not notified`)
  const lost = episodes.filter(
    ({ until, notified, suppressed }) =>
      until !== null && suppressed.length === 0 && !notified.some((one) => one.receiver === receiver),
  )
  problems.push(
    ...lost.map(({ key, target, since }) => `${receiver} was not told of ${key} on ${target} since ${since}`),
  )
  const distinct = attempts.filter(({ accepted }) => accepted).length - duplicates
  return { distinct, lost: lost.length, duplicates, problems }
}
