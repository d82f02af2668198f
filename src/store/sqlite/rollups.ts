import type { DatabaseSync } from 'node:sqlite'
import { QUARTER_HOUR_SECONDS } from '../../ledger/usage.ts'
import type { RollupUpdate } from '../store.ts'

const COUNT = 'INSERT INTO rollup_saves (only, n) VALUES (1, 1) ON CONFLICT DO UPDATE SET n = n + 1'

/** The rows of rollups. Nothing here begins a transaction: the caller does. */
export function rollupsIn(db: DatabaseSync) {
  const prepare = (sql: string) => db.prepare(sql)
  const mark = (rows: string) =>
    prepare(
      `INSERT INTO stale_rollups (quarter, target, version) ${rows} ON CONFLICT DO UPDATE SET version = version + 1`,
    )
  const statements = {
    mark: mark('VALUES (?, ?, 1)'),
    markAll: mark(`SELECT at, target, 1 FROM rollups WHERE target = ? AND width = ${QUARTER_HOUR_SECONDS}`),
    countReset: prepare(COUNT),
    countSave: prepare(`${COUNT} WHERE n = ?`),
    version: prepare('SELECT version FROM stale_rollups WHERE quarter = ? AND target = ?'),
    unmark: prepare('DELETE FROM stale_rollups WHERE quarter = ? AND target = ?'),
    save: prepare(
      'INSERT OR REPLACE INTO rollups (target, width, at, by_labels, without_labels) VALUES (?, ?, ?, ?, ?)',
    ),
    delete: prepare('DELETE FROM rollups WHERE target = ? AND width = ? AND at = ?'),
  }
  return {
    /** The calls of a target change that finished in these quarters. */
    markStale: (target: number, quarters: Iterable<number>): void => {
      for (const quarter of quarters) statements.mark.run(quarter, target)
    },
    /** All calls of a target are deleted: what all targets have together changes. */
    markAllStale: (target: number): void => {
      statements.markAll.run(target)
      statements.countReset.run()
    },
    saveRollups: ({ after, quarter, versions, rollups }: RollupUpdate): void => {
      const isFresh = versions.every(
        ({ target, version }) => statements.version.get(quarter, target)?.['version'] === version,
      )
      if (!isFresh || statements.countSave.run(after).changes === 0) return
      for (const { target } of versions) statements.unmark.run(quarter, target)
      for (const { target, width, at, encoded } of rollups) {
        if (encoded === undefined) statements.delete.run(target, width, at)
        else statements.save.run(target, width, at, encoded.byLabels, encoded.withoutLabels)
      }
    },
  }
}
