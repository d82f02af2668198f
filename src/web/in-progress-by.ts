import type { LedgerState } from '../ledger/state.ts'

export type InProgress = { type: string; mode: string; calls: number }

/** The open calls by type and mode, those that there are. */
export function inProgressBy({ open }: Pick<LedgerState, 'open'>): InProgress[] {
  const counts = new Map<string, InProgress>()
  for (const { labels } of open.values()) {
    const { type, mode } = labels
    const key = `${type}|${mode}`
    const known = counts.get(key)
    if (known === undefined) counts.set(key, { type, mode, calls: 1 })
    else known.calls += 1
  }
  return [...counts.values()].toSorted((a, b) => a.type.localeCompare(b.type) || a.mode.localeCompare(b.mode))
}
