import { createHash, randomUUID } from 'node:crypto'
import { OtherSettingsError, type RecentOverviews, type Renewal } from './cluster-store.ts'
import { codeOf, isAnswer, isUnresponsive } from './postgres/postgres-error.ts'
import { LOCK } from './postgres/schema.ts'
import { parse } from './rows.ts'
import { difference, type Settings } from './settings.ts'
import { list, type Row, type Sql, type Step } from './sql.ts'
import { StoreError } from './store-error.ts'

/** "even" in ASCII: one at a time gives positions. Else a reader could see a position before a lower one. */
const EVENTS_LOCK = 'SELECT pg_advisory_xact_lock(1702257006)'

/**
 * Deletes members whose lease has ended, which frees their targets (ON DELETE SET NULL); not those that renew it just now.
 */
const DELETE_DEAD = `
  DELETE FROM callwatch.members WHERE id IN (
    SELECT id FROM callwatch.members WHERE ends <= statement_timestamp() FOR UPDATE SKIP LOCKED)`
const JOIN = `
  INSERT INTO callwatch.members (id, name, note, settings, ends)
  VALUES ($1, $2, $3, $4, statement_timestamp() + $5::float8 * interval '1 second')`
const DECLARE = 'UPDATE callwatch.members SET settings = $2, declared = DEFAULT WHERE id = $1'
/** The settings that all members must use. */
const DECLARED = 'SELECT name, settings FROM callwatch.members ORDER BY declared DESC LIMIT 1'
const RENEW = `
  UPDATE callwatch.members SET note = $2, ends = statement_timestamp() + $3::float8 * interval '1 second'
  WHERE id = $1 RETURNING id`
/**
 * Everything in one statement, so that members and owners are of one moment: the targets of each owner in one row, as JSON
 * of their epochs, since there are many. The settings, which grow with the targets, only where they are not this member's, by their digest.
 */
const READ_MEMBERS = `
  SELECT 'settings' AS kind, NULL AS id, name, settings AS text, NULL::float8 AS number FROM (${DECLARED}) AS declared
    WHERE md5(settings) <> $1
  UNION ALL SELECT 'member', id, name, note, joined FROM callwatch.members
  UNION ALL SELECT 'owner', owner, NULL, json_object_agg(name, epoch)::text, NULL
    FROM callwatch.targets WHERE owner IS NOT NULL GROUP BY owner`
/** In the order in which they are wanted. */
const ACQUIRE = `
  WITH free AS MATERIALIZED (
    SELECT number FROM callwatch.targets JOIN json_array_elements_text($1::text::json) WITH ORDINALITY AS wanted (name, place) USING (name)
    WHERE owner IS NULL ORDER BY place LIMIT $2 FOR UPDATE OF targets SKIP LOCKED
  )
  UPDATE callwatch.targets SET owner = $3, epoch = epoch + 1 FROM free
  WHERE targets.number = free.number AND EXISTS (SELECT FROM callwatch.members WHERE id = $3)
  RETURNING name, epoch`
const RELEASE = 'UPDATE callwatch.targets SET owner = NULL WHERE owner = $1 AND name IN texts($2)'
const LEAVE = 'DELETE FROM callwatch.members WHERE id = $1'
/** Of all members the first one sends: two at once would send the same twice. */
const IS_FIRST = `
  SELECT 1 FROM (SELECT id FROM callwatch.members ORDER BY joined LIMIT 1) AS first WHERE id = $1`
const LIVING_OWNER = `
  SELECT members.id, members.name FROM callwatch.targets JOIN callwatch.members ON owner = id
  WHERE targets.name = $1 AND ends > statement_timestamp()`

/** A reference to a row that is gone: the claiming member was deleted in between. */
const FOREIGN_KEY_VIOLATION = '23503'

const LOG_COMMITS = `
  INSERT INTO callwatch.commits (target, seq, epoch) SELECT target, seq, epoch FROM given(target int, seq bigint, epoch bigint)`
/** How long commits are kept. */
const COMMITS_KEPT_MINUTES = 10
const DELETE_COMMITS = `
  DELETE FROM callwatch.commits WHERE (target, seq) IN (
    SELECT target, seq FROM callwatch.commits WHERE at < statement_timestamp() - interval '${COMMITS_KEPT_MINUTES} minutes'
    ORDER BY at LIMIT 2000 FOR UPDATE SKIP LOCKED)
  RETURNING 1`

/** In one order: else two members that publish targets of each other could deadlock. */
const PUBLISH = `
  INSERT INTO callwatch.overviews (target, data)
  SELECT number, given.data FROM given(name text, data text, owner text) JOIN callwatch.targets USING (name, owner) ORDER BY number
  ON CONFLICT (target) DO UPDATE SET data = excluded.data, changed = pg_current_xact_id()`
/** What this statement sees. */
const CURSOR = 'SELECT NULL AS name, pg_current_snapshot()::text AS data'
const OVERVIEWS = 'SELECT name, overviews.data FROM callwatch.overviews JOIN callwatch.targets ON target = number'
/** A part of them: all in one statement could exceed its timeout. */
const PART_SIZE = 500
const PART = `
  SELECT number, name, overviews.data FROM callwatch.overviews JOIN callwatch.targets ON target = number
  WHERE number > $1 ORDER BY number LIMIT ${PART_SIZE}`
/**
 * An overview is recent if the earlier snapshot did not see it. Its number alone does not say so: a transaction may commit after one
 * that began later. All transactions below the snapshot's xmin had ended by then. A dump of another database may bring rows with
 * numbers above all of this one's: these are not recent.
 */
const SINCE = `${CURSOR} UNION ALL ${OVERVIEWS}
  WHERE changed >= pg_snapshot_xmin($1::pg_snapshot) AND NOT pg_visible_in_snapshot(changed, $1::pg_snapshot)
  AND changed < pg_snapshot_xmax(pg_current_snapshot())`

export type ClusterOptions = {
  lease: number
  /** What joins do in their transaction, once the settings are known to be the same. */
  onJoin: () => Step[]
}

/** Under what a commit of a target is made: its owner, and the epoch of its ownership. */
export type Fence = { owner: string | null; epoch: number }

/** This daemon as a member of those that share a database, and what its store needs to know of that. */
export type Cluster = ReturnType<typeof clusterOf>

/**
 * @param sql of its own for the membership, so that no lease ends because commits wait
 */
export function clusterOf(sql: Sql, { lease, onJoin }: ClusterOptions) {
  let self: string | undefined
  let own: Settings = {}
  let ownDigest = ''
  let epochs = new Map<string, number>()

  const loseAll = (): void => {
    self = undefined
    epochs = new Map()
  }

  const setOwn = (settings: Settings): void => {
    own = settings
    // As PostgreSQL's md5.
    ownDigest = createHash('md5').update(JSON.stringify(settings)).digest('hex')
  }

  const methods = {
    /** How long a member lives without renewing its lease (seconds). */
    lease,
    /**
     * Becomes a member, again after a lease was lost.
     *
     * @param name how others show it
     * @param settings what all members must agree in, by name
     * @param status what the others may show of it until its first renewal (JSON)
     * @throws {OtherSettingsError} where the living members must use other settings
     */
    join: async (name: string, settings: Settings, status: string): Promise<void> => {
      const id = randomUUID()
      await sql.transaction(async (joining) => {
        const former = self === undefined ? [] : [{ statement: LEAVE, args: [self] }]
        await joining.batch([{ statement: LOCK }, { statement: DELETE_DEAD }, ...former])
        const [declared] = await joining.all(DECLARED)
        const how = declared && difference(parse<Settings>(declared['settings']), settings)
        if (how !== undefined) throw new OtherSettingsError(String(declared?.['name']), how)
        const args = [id, name, status, JSON.stringify(settings), lease]
        await joining.batch([...onJoin(), { statement: JOIN, args }])
      })
      loseAll()
      self = id
      setOwn(settings)
    },
    /** Declares reloaded settings: all members must use them while this one lives and no other one declares. */
    declare: async (settings: Settings): Promise<void> => {
      setOwn(settings)
      if (self !== undefined) await sql.batch([{ statement: DECLARE, args: [self, JSON.stringify(settings)] }])
    },
    /**
     * Renews the lease, and reads what the others show of themselves.
     *
     * @param status what the others may show of this one (JSON)
     * @returns undefined where this member is dead: all that it owned may be owned by others
     */
    renew: async (status: string): Promise<Renewal | undefined> => {
      const me = self
      if (me === undefined) return undefined
      // Three statements without a transaction: none holds a lock while it waits for another one. The lease is renewed
      // also where a dead member cannot be deleted yet, because its last commit still runs.
      const [[renewed], , rows] = await Promise.all([
        sql.batch([{ statement: RENEW, args: [me, status, lease] }]),
        sql.batch([{ statement: DELETE_DEAD }]).catch(() => undefined),
        sql.all(READ_MEMBERS, [ownDigest]),
      ])
      if (renewed!.length === 0) {
        loseAll()
        return undefined
      }
      const owned = ownedBy(rows)
      epochs = new Map(Object.entries(owned.get(me) ?? {}))
      return renewalOf(rows, owned, me, own)
    },
    /** Acquires targets that no living member owns, `most` at most, and returns those that were acquired. */
    acquire: async (targets: readonly string[], most: number): Promise<readonly string[]> => {
      const me = self
      if (me === undefined || targets.length === 0 || most <= 0) return []
      const [acquired] = await sql
        .batch([{ statement: ACQUIRE, args: [list(targets), most, me] }])
        .catch((error: unknown): Row[][] => {
          if (codeOf(error) === FOREIGN_KEY_VIOLATION) return [[]]
          throw error
        })
      for (const { name, epoch } of acquired!) epochs.set(String(name), Number(epoch))
      return acquired!.map(({ name }) => String(name))
    },
    /** Releases targets, so that others may acquire them at once. */
    release: async (targets: readonly string[]): Promise<void> => {
      for (const target of targets) epochs.delete(target)
      if (self !== undefined && targets.length > 0)
        await sql.batch([{ statement: RELEASE, args: [self, list(targets)] }])
    },
    /** Ends the membership, and releases every target. */
    leave: async (): Promise<void> => {
      const me = self
      loseAll()
      if (me !== undefined) await sql.batch([{ statement: LEAVE, args: [me] }])
    },
  }

  return {
    methods,
    fenceOf: (target: string): Fence => {
      const epoch = epochs.get(target)
      if (self === undefined || epoch === undefined)
        throw new StoreError('stale', `this daemon does not own target ${target}; only its owner commits it`)
      return { owner: self, epoch }
    },
    /** Holds of the member that sends notifications. */
    senderFence: (): Step[] => [{ statement: IS_FIRST, args: [self ?? null], fence: 1 }],
    /** The latest commits, in a log. */
    alongside: (commits: readonly number[][]): Step[] => [{ statement: LOG_COMMITS, given: commits }],
    /** Whether the database refused one statement, and would take others. */
    isRefusal: (error: unknown): boolean => isAnswer(error) && !isUnresponsive(error),
    /** What comes before anything that locks many rows of the log of events: one at a time does. */
    ordering: { statement: EVENTS_LOCK } satisfies Step,
    deleteCommits: { statement: DELETE_COMMITS } satisfies Step,
    /** What a target has beside all else, which goes with it, and which goes when it leaves the configuration. */
    tables: ['commits', 'overviews'],
    tablesOfUse: ['overviews'],
    /** @throws {StoreError} refused: another member owns the target, whose row is locked */
    expectResettable: async (resetting: Sql, name: string): Promise<void> => {
      const [owner] = await resetting.all(LIVING_OWNER, [name])
      if (owner !== undefined && owner['id'] !== self) throw ownedError(name, String(owner['name']))
    },
    /** The target was reset, and its epochs with it. */
    forget: (name: string): void => void epochs.delete(name),
    publish: (overviews: ReadonlyMap<string, string>): Step => ({
      statement: PUBLISH,
      given: self === undefined ? [] : [...overviews].map(([name, data]) => [name, data, self!]),
    }),
  }
}

/**
 * What became visible since an earlier call, whichever transaction was first. What was seen before may be repeated.
 *
 * @param cursor of that call; undefined for all overviews
 */
export async function overviewsSince(sql: Sql, cursor?: string): Promise<RecentOverviews> {
  if (cursor === undefined) return readAll(sql)
  const rows = await sql.all(SINCE, [cursor])
  const next = String(rows.find(({ name }) => name === null)!['data'])
  // A database that was restored, or a standby that took over, may be behind what was seen.
  if (isBefore(next, cursor)) return readAll(sql)
  return { cursor: next, overviews: byName(rows.filter(({ name }) => name !== null)) }
}

async function readAll(sql: Sql): Promise<RecentOverviews> {
  const [first] = await sql.all(CURSOR)
  const overviews: Row[] = []
  for (let part: Row[] | undefined; part === undefined || part.length === PART_SIZE;) {
    part = await sql.all(PART, [Number(part?.at(-1)!['number'] ?? 0)])
    overviews.push(...part)
  }
  return { cursor: String(first!['data']), overviews: byName(overviews) }
}

function byName(rows: readonly Row[]): Map<string, string> {
  return new Map(rows.map(({ name, data }) => [String(name), String(data)]))
}

/** Of snapshots of one database, as `xmin:xmax:…`, neither number ever decreases. */
function isBefore(snapshot: string, earlier: string): boolean {
  const [numbers, known] = [snapshot, earlier].map((text) => text.split(':').slice(0, 2).map(BigInt))
  return numbers!.some((number, i) => number < known![i]!)
}

/** The epoch of each target, by owner. */
function ownedBy(rows: readonly Row[]): Map<string, Record<string, number>> {
  const owners = rows.filter(({ kind }) => kind === 'owner')
  return new Map(owners.map(({ id, text }) => [String(id), parse(text)]))
}

function renewalOf(
  rows: readonly Row[],
  owned: ReadonlyMap<string, Record<string, number>>,
  self: string,
  own: Settings,
): Renewal {
  const ofKind = (wanted: string) => rows.filter(({ kind }) => kind === wanted)
  const [declared] = ofKind('settings')
  const how = declared && difference(parse<Settings>(declared['text']), own)
  return {
    self,
    members: ofKind('member')
      .toSorted((a, b) => Number(a['number']) - Number(b['number']))
      .map(({ id, name, text }) => ({ id: String(id), name: String(name), status: String(text) })),
    owners: new Map([...owned].flatMap(([id, targets]) => Object.keys(targets).map((name) => [name, id]))),
    differing: how === undefined ? undefined : new OtherSettingsError(String(declared?.['name']), how),
  }
}

function ownedError(name: string, owner: string): StoreError {
  return new StoreError(
    'refused',
    `target ${name} is owned by the daemon ${owner}; stop all daemons on this database, then start one with ` +
      `--reset-target ${name} (one that died counts until its lease has ended)`,
  )
}
