import type { MissedCommit } from '../sharing.ts'
import { unpackCommit } from './commit-log.ts'
import type { Session } from './connection.ts'

/**
 * A target as a daemon knows it: the number that it has until it is reset, and of its last known commit the sequence number
 * and the id, if that is known.
 */
export type Known = { target: string; number: number; seq: number; id: string | undefined }

/** With the id of the commit, if there is one. */
export type Missed = MissedCommit & { id?: string }

/**
 * A row without `seq` means that the target was reset, that the log does not reach back, or that the database lacks the known
 * commit or has another one in its place, as after a restore or a failover. Where the log has none in that place any more,
 * or its id is not known, it counts as the same.
 */
const MISSED = `
  SELECT known.name, log.seq, log.id::text, log.data
  FROM unnest($1::text[], $2::int[], $3::bigint[], $4::text[]) AS known (name, number, seq, id)
  LEFT JOIN callwatch.targets AS target ON target.name = known.name AND target.number = known.number
  LEFT JOIN callwatch.commits AS last ON last.target = target.number AND last.seq = known.seq
  CROSS JOIN LATERAL (SELECT coalesce(last.id <> nullif(known.id, '')::uuid, false) AS is_other) AS found
  LEFT JOIN callwatch.commits AS log ON log.target = target.number AND log.seq > known.seq AND NOT is_other
  WHERE target.number IS NULL OR target.seq <> known.seq OR is_other
  ORDER BY known.name, log.seq`

/** The commits of these targets since: for each all of them in order, or one without `commit`. */
export async function readMissed(session: Session, known: readonly Known[]): Promise<Missed[]> {
  if (known.length === 0) return []
  const rows = await session.run(MISSED, [
    known.map(({ target }) => target),
    known.map(({ number }) => number),
    known.map(({ seq }) => seq),
    known.map(({ id }) => id ?? ''),
  ])
  const seqs = new Map(known.map(({ target, seq }) => [target, seq]))
  return [...Map.groupBy(rows, ({ name }) => String(name))].flatMap(([target, log]): Missed[] => {
    const first = seqs.get(target)! + 1
    const commits = log.map(({ data }, i) =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column is bytea
      Number(log[i]!['seq']) === first + i ? unpackCommit(data as Uint8Array) : undefined,
    )
    const isWhole = commits.every((commit) => commit !== undefined)
    return isWhole
      ? commits.map((commit, i) => ({ target, commit, id: String(log[i]!['id']) }))
      : [{ target, commit: undefined }]
  })
}
