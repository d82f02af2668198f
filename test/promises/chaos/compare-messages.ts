import type { Accepted, FailingSlack } from './failing-slack.ts'

export type MessageComparison = {
  distinct: number
  lost: number
  /** Changes without a notification, because the alert fired and resolved between deliveries. */
  unsent: number
  /** Repeated messages. */
  duplicates: number
  /** What is wrong, a line each. */
  problems: string[]
}

/**
 * Compares what the channel accepted with the changes that were committed to the outbox. Firing and end alternate for each
 * alert, so the same kind twice in a row is one repeated message: it may be where another process than the first sent
 * it. What flapped between deliveries is a number in a later message; and of a firing that was never answered it is
 * unknown whether it was accepted, so that its end is notified.
 */
export function compareMessages(
  attempts: FailingSlack['attempts'],
  { committed, left }: { committed: number; left: number },
): MessageComparison {
  const problems: string[] = []
  const last = new Map<string, Accepted>()
  let duplicates = 0
  let notified = 0
  /** Alerts with an unanswered message about a firing, or about a firing and its end, since their last accepted one. */
  const unanswered = new Set<string>()
  for (const { message, accepted } of attempts) {
    const { alert, kind, cycles, life, text } = message
    if (kind === 'store' || kind === 'past') continue
    if (!accepted) {
      if (kind === 'firing' || kind === 'flapped') unanswered.add(alert)
      continue
    }
    // It counted as notified, and so its end is: one message for both.
    const coversBoth = unanswered.delete(alert) && kind !== 'firing' && last.get(alert)?.kind !== 'firing'
    if (coversBoth) {
      last.set(alert, message)
      notified += kind === 'flapped' ? 2 * cycles : 2 * cycles + 2
      continue
    }
    const before = last.get(alert)
    const wasFiring = before?.kind === 'firing'
    if (before?.kind === kind && before.text === text && before.life !== life) {
      duplicates += 1
      continue
    }
    last.set(alert, message)
    notified += changesIn(kind, cycles, wasFiring)
    if (kind === 'flapped' || (kind === 'firing' && cycles > 0)) continue
    if ((kind === 'firing') !== wasFiring) continue
    const isOtherLife = life !== (before?.life ?? 1)
    // It was sent before a process died that could not record that.
    if (isOtherLife && kind === 'firing') {
      duplicates += 1
      notified -= 1
      // Its firing was claimed by a process that died before it was sent: one message for both.
    } else if (isOtherLife) notified += 1
    else problems.push(`${alert}: ${kind} after ${before?.kind ?? 'nothing'}`)
  }
  // What came after nothing was left, and before the daemon had stopped, waits for its next start.
  for (const { alert, kind } of last.values())
    if (kind === 'firing' && left === 0) problems.push(`the end of ${alert} was not notified`)
  const missing = committed - notified - left
  // Each is a message or a number in one, except for alerts that fired and resolved between deliveries.
  const lost = missing < 0 ? 0 : missing % 2
  if (lost !== 0) problems.push(`${committed} were committed, ${notified} notified, ${left} are left`)
  const distinct = attempts.filter(({ accepted }) => accepted).length - duplicates
  return { distinct, lost, unsent: Math.max(0, missing - lost), duplicates, problems }
}

/** How many changes a message notifies. */
function changesIn(kind: Accepted['kind'], cycles: number, wasFiring: boolean): number {
  if (kind === 'flapped') return 2 * cycles
  if (kind === 'firing') return wasFiring && cycles > 0 ? 2 * cycles : 2 * cycles + 1
  return 2 * cycles + 1
}
