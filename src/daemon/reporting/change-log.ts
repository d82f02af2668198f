import type { Logger } from 'pino'
import { formatNumber } from '../../text/format.ts'

/** A change of state of a target or of one of its alerts. */
export type Change = {
  level: 'info' | 'warn'
  target: string
  /** `fields` are in the change's own line, `shared` also in a line about many changes. */
  fields: object
  shared?: object
  line: string
  /** The text of many such changes, after their number: `more alerts of NoCalls are firing`. */
  together: string
  /** The cause, if it can differ between such changes. */
  cause?: string
}

/** Logs each change of state as a line. If many changes come at the same time, most of them share a line. */
export type ChangeLog = {
  add: (change: Change) => void
  /** Logs the collected changes. Call it every few seconds, and at the end. */
  flush: () => void
}

/** How many changes with the same text get a line of their own each time. */
const MAX_LINES = 3
/** The most names in a log line. */
export const MAX_NAMES = 20

export function changeLog(log: Logger): ChangeLog {
  /** The changes since the last flush, by their common text. */
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

/** `: cause`, with the number of changes that have it if not all do. */
function mostCommonCause(changes: readonly Change[]): string {
  const counts = new Map<string, number>()
  for (const { cause } of changes) if (cause !== undefined) counts.set(cause, (counts.get(cause) ?? 0) + 1)
  const [most] = [...counts].toSorted(([, a], [, b]) => b - a)
  if (most === undefined) return ''
  const [cause, count] = most
  return count === changes.length ? `: ${cause}` : `, ${formatNumber(count)} of them with: ${cause}`
}
