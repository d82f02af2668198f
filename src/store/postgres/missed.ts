import type { MissedCommit } from '../sharing.ts'
import { unpackCommit } from './commit-log.ts'
import type { Session } from './connection.ts'

/** A target as it is known: the number that it has until it is reset, and the sequence number of its last known commit. */
export type Known = { target: string; number: number; seq: number }

/**
 * Rows with `known` false are of targets that are no more, or another; without `seq`, the log does not reach back, or the
 * database is behind of what is known, as after a restore.
 */
const MISSED = `
  SELECT known.name, target.number IS NOT NULL AS known, log.seq, log.data
  FROM unnest($1::text[], $2::int[], $3::bigint[]) AS known (name, number, seq)
  LEFT JOIN callwatch.targets AS target ON target.name = known.name AND target.number = known.number
  LEFT JOIN callwatch.commits AS log ON log.target = target.number AND log.seq > known.seq
  WHERE target.number IS NULL OR target.seq <> known.seq
  ORDER BY known.name, log.seq`

/** What was committed of these targets since: for each all of it in order, or one without `commit`. */
export async function readMissed(session: Session, known: readonly Known[]): Promise<MissedCommit[]> {
  if (known.length === 0) return []
  const rows = await session.run(MISSED, [
    known.map(({ target }) => target),
    known.map(({ number }) => number),
    known.map(({ seq }) => seq),
  ])
  const seqs = new Map(known.map(({ target, seq }) => [target, seq]))
  return [...Map.groupBy(rows, ({ name }) => String(name))].flatMap(([target, log]): MissedCommit[] => {
    const first = seqs.get(target)! + 1
    const commits = log.map(({ data }, i) =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column is bytea
      Number(log[i]!['seq']) === first + i ? unpackCommit(data as Uint8Array) : undefined,
    )
    const isWhole = commits.every((commit) => commit !== undefined)
    return isWhole ? commits.map((commit) => ({ target, commit })) : [{ target, commit: undefined }]
  })
}
