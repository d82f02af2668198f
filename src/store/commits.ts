import { isCounted } from '../ledger/tracked-call.ts'
import { batched } from './batched.ts'
import type { Fence } from './cluster.ts'
import { CALL_COLUMNS, valuesOf } from './call-columns.ts'
import { hourOf, packEvaluation } from './evaluation-log.ts'
import { markStale } from './rollups.ts'
import { AnswerLost, type Sql, type Step, type Value } from './sql.ts'
import { isBug, StoreError } from './store-error.ts'
import type { Commit, TargetStore } from './store.ts'
import { insertInto, keyIsGiven, replacing } from './tables.ts'
import type { Targets, TargetsOptions } from './targets.ts'

type CommitOptions = TargetsOptions & { targets: Pick<Targets, 'numberOf'> }

/**
 * The most concurrent transactions of this daemon that write commits to a shared store. Other statements must not wait behind
 * them.
 */
const COMMIT_CONNECTIONS = 2

const NO_OWNER: Fence = { owner: null, epoch: 0 }

/** A commit of the target with this number. */
type Numbered = { target: string; number: number; commit: Commit; fence: Fence }

/** The most commits and calls in one transaction. A transaction that exceeded the statement timeout would never succeed. */
const COMMITTED_TOGETHER = 1000

/** Locks the targets before any other rows, and sorted, because two transactions with different orders could deadlock. */
const MOVE = `
  UPDATE callwatch.targets SET seq = followed.next, sync = followed.state FROM (
    SELECT number, expected + 1 AS next, state
    FROM given(target int, expected bigint, state text, holder text, claimed bigint) JOIN callwatch.targets ON number = target
    WHERE seq = expected AND owner IS NOT DISTINCT FROM holder AND epoch = claimed
    ORDER BY number FOR UPDATE OF targets
  ) AS followed
  WHERE targets.number = followed.number`

const CALL_ROW = ['target', 'tracked', ...CALL_COLUMNS]
const WRITE_CALLS = insertInto('calls', CALL_ROW, replacing('calls', CALL_ROW))
const EVICT = `UPDATE callwatch.calls SET tracked = false WHERE ${keyIsGiven('calls')}`
const DROP = `DELETE FROM callwatch.calls WHERE ${keyIsGiven('calls')}`
const COUNT = insertInto('counters', ['target', 'series', 'value'], 'UPDATE SET value = known.value + excluded.value')
const USE = insertInto(
  'usage',
  ['target', 'quarter', 'minutes'],
  'UPDATE SET minutes = known.minutes + excluded.minutes',
)
const SET_ALERT = insertInto('alerts', ['target', 'alert', 'data'], replacing('alerts', ['data']))
const END_ALERT = `DELETE FROM callwatch.alerts WHERE ${keyIsGiven('alerts')}`
const EVALUATE = insertInto('evaluations', ['target', 'hour', 'data'], 'UPDATE SET data = known.data || excluded.data')
const ADD_GAP = insertInto('gaps', ['target', 'ended', 'began'], 'NOTHING')

/** Commits that are requested at the same time share one transaction. */
export function commits(sql: Sql, options: CommitOptions): Pick<TargetStore, 'commit'> {
  const { targets, notified, events, cluster } = options

  async function write(commits: readonly Numbered[]): Promise<void> {
    const steps = [
      ...stepsOf(commits),
      ...notified.writeEpisodes(commits.flatMap(({ commit }) => commit.alerts.notifications)),
      ...commits.flatMap(({ target, commit }) => events.log(target, commit.events)),
    ]
    await sql.batch(steps).catch(async (error: unknown) => {
      if (!(error instanceof AnswerLost) || !(await areWritten(commits))) throw error
    })
  }

  /** Whether the commits were written before the answer was lost. */
  async function areWritten(commits: readonly Numbered[]): Promise<boolean> {
    const rows = await sql.all('SELECT number, seq FROM callwatch.targets')
    const last = new Map(rows.map(({ number, seq }) => [Number(number), Number(seq)]))
    return commits.every(({ number, commit }) => last.get(number) === commit.ledger.sync.seq)
  }

  /**
   * Writes commits one by one if they are refused together, since only one may be the cause.
   *
   * @returns the error of each unwritten commit
   */
  async function writeEach(commits: readonly Numbered[]): Promise<(void | Error)[]> {
    try {
      await write(commits)
      return commits.map(() => undefined)
    } catch (error) {
      const isStale = error instanceof StoreError && error.kind === 'stale'
      if (commits.length > 1 && (isStale || isBug(error) || (cluster?.isRefusal(error) ?? true))) {
        const failed: (void | Error)[] = []
        for (const one of commits) failed.push(...(await writeEach([one]).catch((reason: Error) => [reason])))
        return failed
      }
      throw isStale ? stale(commits[0]!.target) : error
    }
  }

  const together = batched(writeEach, {
    most: COMMITTED_TOGETHER,
    size: ({ commit: { ledger } }: Numbered) => 1 + ledger.calls.size + ledger.evicted.length,
    concurrent: cluster === undefined ? 1 : COMMIT_CONNECTIONS,
    isEager: cluster === undefined,
  })

  return {
    commit: async (target, commit) => {
      const fence = cluster?.fenceOf(target) ?? NO_OWNER
      const number = await targets.numberOf(target)
      if (number === undefined) throw stale(target)
      await together({ target, number, commit, fence })
    },
  }
}

/** The steps that write the rows of several commits. */
function stepsOf(commits: readonly Numbered[]): Step[] {
  /** The rows of all commits for one table. */
  const rows = (of: (commit: Commit) => Iterable<readonly Value[]>) =>
    commits.flatMap(({ number, commit }) => [...of(commit)].map((row) => [number, ...row]))
  const calls = commits.map(callsOf)
  const moved = commits.map(({ number, commit: { ledger }, fence }) => [
    number,
    ledger.sync.seq - 1,
    JSON.stringify(ledger.sync),
    fence.owner,
    fence.epoch,
  ])
  return [
    { statement: MOVE, given: moved, fence: commits.length },
    { statement: WRITE_CALLS, given: calls.flatMap(({ written }) => written) },
    { statement: EVICT, given: calls.flatMap(({ evicted }) => evicted) },
    { statement: DROP, given: calls.flatMap(({ dropped }) => dropped) },
    { statement: COUNT, given: rows(({ ledger }) => ledger.counters) },
    { statement: USE, given: rows(({ ledger }) => ledger.usage) },
    { statement: SET_ALERT, given: rows(({ alerts }) => alerts.changed.map((one) => [one.key, JSON.stringify(one)])) },
    { statement: END_ALERT, given: rows(({ alerts }) => alerts.ended.map(({ key }) => [key])) },
    { statement: EVALUATE, given: rows(({ evaluated: one }) => (one ? [[hourOf(one), packEvaluation(one)]] : [])) },
    { statement: ADD_GAP, given: rows(({ gap }) => (gap ? [[gap.to, gap.from]] : [])) },
    markStale(rows(({ ledger }) => [...ledger.stale].map((quarter) => [quarter]))),
  ]
}

/** Decides which calls are written, evicted or deleted. A call that changes and is evicted in one delta is written once. */
function callsOf({ number, commit }: Numbered) {
  const { calls, evicted } = commit.ledger
  const dropped = new Set(evicted.filter((call) => !isCounted(call)).map(({ id }) => id))
  const history = new Set(evicted.filter(isCounted).map(({ id }) => id))
  const written: Value[][] = []
  for (const call of calls.values()) {
    if (!dropped.has(call.id)) written.push(valuesOf(call, number, history.has(call.id) ? 0 : 1))
  }
  const others = [...history].filter((id) => !calls.has(id))
  const rowOf = (id: string) => [number, id]
  return { written, evicted: others.map(rowOf), dropped: [...dropped].map(rowOf) }
}

function stale(target: string): StoreError {
  return new StoreError(
    'stale',
    `another process has committed or acquired target ${target} since this daemon last committed it`,
  )
}
