import type { Accepted, FailingSlack } from './failing-slack.ts'

export type MessageComparison = {
  distinct: number
  lost: number
  /** Changes that nobody was told of, because they came and went while they were held back. */
  unsaid: number
  /** Messages that came again. */
  duplicates: number
  /** What is wrong, a line each. */
  problems: string[]
}

/**
 * Compares what the channel accepted with the changes that were committed to the outbox. Firing and end alternate for each
 * alert, so the same kind twice in a row is one message that came again: it may where another process than the first sent
 * it. What came and went while nobody could be told is a number in a later message; and of a firing that was never answered nobody
 * knows whether it was accepted, so that its end is told.
 */
export function compareMessages(
  attempts: FailingSlack['attempts'],
  { committed, left }: { committed: number; left: number },
): MessageComparison {
  const problems: string[] = []
  const last = new Map<string, Accepted>()
  let duplicates = 0
  let told = 0
  /** Alerts whose firing went unanswered since they were last told of. */
  const unanswered = new Set<string>()
  for (const { message, accepted } of attempts) {
    const { alert, kind, cycles, life, text } = message
    if (kind === 'store') continue
    if (!accepted) {
      if (kind === 'firing') unanswered.add(alert)
      continue
    }
    // It counted as told, and so its end is: that speaks for both.
    const speaksForBoth = unanswered.delete(alert) && kind !== 'firing' && last.get(alert)?.kind !== 'firing'
    if (speaksForBoth) {
      last.set(alert, message)
      told += kind === 'passed' ? 2 * cycles : 2 * cycles + 2
      continue
    }
    const before = last.get(alert)
    const wasFiring = before?.kind === 'firing'
    if (before?.kind === kind && before.text === text && before.life !== life) {
      duplicates += 1
      continue
    }
    last.set(alert, message)
    told += changesIn(kind, cycles, wasFiring)
    if (kind === 'passed' || (kind === 'firing' && cycles > 0)) continue
    if ((kind === 'firing') !== wasFiring) continue
    const isOtherLife = life !== (before?.life ?? 1)
    // It was told before a process died that had no time to note that.
    if (isOtherLife && kind === 'firing') {
      duplicates += 1
      told -= 1
      // Its firing was claimed by a process that died before it was sent: this speaks for both.
    } else if (isOtherLife) told += 1
    else problems.push(`${alert}: ${kind} after ${before?.kind ?? 'nothing'}`)
  }
  for (const { alert, kind } of last.values()) if (kind === 'firing') problems.push(`the end of ${alert} never came`)
  const missing = committed - told
  // Each is told or a number in a message, but for what fired and was over while it was held back.
  const lost = missing < 0 ? 0 : missing % 2
  if (lost !== 0 || left !== 0) problems.push(`${committed} were committed, ${told} came, ${left} are left`)
  const distinct = attempts.filter(({ accepted }) => accepted).length - duplicates
  return { distinct, lost, unsaid: Math.max(0, missing - lost), duplicates, problems }
}

/** How many changes a message stands for. */
function changesIn(kind: Accepted['kind'], cycles: number, wasFiring: boolean): number {
  if (kind === 'passed') return 2 * cycles
  if (kind === 'firing') return wasFiring && cycles > 0 ? 2 * cycles : 2 * cycles + 1
  return 2 * cycles + 1
}
