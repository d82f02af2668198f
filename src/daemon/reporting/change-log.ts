import type { Logger } from 'pino'
import { formatNumber } from '../../text/format.ts'

/** A change of state of a target or of one of its alerts. */
type Change = {
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

export type ChangeLog = ReturnType<typeof changeLog>

/** How many changes with the same text get a line of their own each time. */
const MAX_LINES = 3
/** The most names in a log line. */
export const MAX_NAMES = 20
/** The most causes in one, and the most names of each. */
const MAX_CAUSES = 3
const MAX_NAMES_OF_CAUSE = 5

/** Logs each change of state as a line. If many changes come at the same time, most of them share a line. */
export function changeLog(log: Logger) {
  /** The changes since the last flush, by their common text. */
  const changes = new Map<string, Change[]>()

  function write({ level, target, fields, shared, line }: Change, at: Change['level'] | 'debug' = level): void {
    log[at]({ target, ...shared, ...fields }, line)
  }

  return {
    add: (change: Change): void => {
      const same = changes.get(change.together) ?? []
      changes.set(change.together, same)
      same.push(change)
      write(change, same.length > MAX_LINES ? 'debug' : change.level)
    },
    /** Logs the collected changes. Call it every few seconds, and at the end. */
    flush: (): void => {
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
      `${formatNumber(same.length)} ${together}${on}${causesOf(same)}`,
    )
  }
}

/** `: cause`, or the most common causes, each with its targets: `: 401 on globex, initech; a timeout on umbrella`. */
function causesOf(changes: readonly Change[]): string {
  const byCause = Map.groupBy(changes, ({ cause }) => cause ?? '')
  const groups = [...byCause].toSorted(([, a], [, b]) => b.length - a.length)
  const [[only] = ['']] = groups
  if (groups.length === 1) return only && `: ${only}`
  const shown = groups.slice(0, MAX_CAUSES).map(([cause, same]) => `${cause} on ${namesOf(same)}`)
  const others = groups.slice(MAX_CAUSES).flatMap(([, same]) => same).length
  return `: ${[...shown, ...(others > 0 ? [`other causes on ${formatNumber(others)} targets`] : [])].join('; ')}`
}

function namesOf(changes: readonly Change[]): string {
  const names = changes.slice(0, MAX_NAMES_OF_CAUSE).map(({ target }) => target)
  const others = changes.length - names.length
  return `${names.join(', ')}${others > 0 ? ` and ${formatNumber(others)} others` : ''}`
}
