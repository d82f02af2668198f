import type { Logger } from 'pino'
import { formatNumber } from '../../text/format.ts'

/** A change of state of a target, or of an alert of it. */
export type Change = {
  level: 'info' | 'warn'
  target: string
  /** What its line can be filtered by, beside the target; and what the line of many can be filtered by as well. */
  fields: object
  shared?: object
  line: string
  /** What many such changes say after their number: `more alerts of NoCalls are firing`. */
  together: string
  /** Why, where that differs from one change to another. */
  cause?: string
}

/** Logs each change of state as a line; where many come in the same moment, most of them in one. */
export type ChangeLog = {
  add: (change: Change) => void
  /** Ends the moment; to be called every few seconds, and at the end. */
  flush: () => void
}

/** How many changes that say the same have lines of their own in one moment. */
const MAX_LINES = 3
/** The names that a log line has at most. */
export const MAX_NAMES = 20

export function changeLog(log: Logger): ChangeLog {
  /** Of this moment, by what they say together. */
  const changes = new Map<string, Change[]>()

  function write({ level, target, fields, shared, line }: Change, at: Change['level'] | 'debug' = level): void {
    log[at]({ target, ...shared, ...fields }, line)
  }

  return {
    add: (change) => {
      const same = changes.get(change.together) ?? []
      changes.set(change.together, same)
      same.push(change)
      write(change, same.length > MAX_LINES ? 'debug' : change.level)
    },
    flush: () => {
      for (const same of changes.values()) {
        const [first, ...more] = same.slice(MAX_LINES)
        if (first === undefined) continue
        if (more.length === 0) write(first)
        else writeTogether([first, ...more])
      }
      changes.clear()
    },
  }

  function writeTogether(same: readonly [Change, ...Change[]]): void {
    const [{ level, together, shared }] = same
    const targets = [...new Set(same.map(({ target }) => target))]
    const where = targets.length === 1 ? targets[0] : `${formatNumber(targets.length)} targets`
    const on = targets.length === same.length ? '' : `, on ${where}`
    log[level](
      { ...shared, changes: same.length, targets: targets.slice(0, MAX_NAMES) },
      `${formatNumber(same.length)} ${together}${on}${mostCommonCause(same)}`,
    )
  }
}

/** `: cause`, or of how many of them it is the cause. */
function mostCommonCause(changes: readonly Change[]): string {
  const counts = new Map<string, number>()
  for (const { cause } of changes) if (cause !== undefined) counts.set(cause, (counts.get(cause) ?? 0) + 1)
  const [most] = [...counts].toSorted(([, a], [, b]) => b - a)
  if (most === undefined) return ''
  const [cause, count] = most
  return count === changes.length ? `: ${cause}` : `, ${formatNumber(count)} of them with: ${cause}`
}
