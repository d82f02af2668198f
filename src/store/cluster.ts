import { createHash, randomUUID } from 'node:crypto'
import { batched } from './batched.ts'
import { isAnswer, isOfServer } from './postgres/postgres-error.ts'
import { expectSchema, LOCK } from './postgres/schema.ts'
import { parse, list, type Row, type Sql, type Step } from './sql.ts'
import { difference, type Settings } from './settings.ts'
import { OtherSettingsError, StoreError } from './store-error.ts'

/**
 * "even" in ASCII. Only one transaction at a time assigns positions; otherwise a reader could see a position before a lower one.
 */
const EVENTS_LOCK = 'SELECT pg_advisory_xact_lock(1702257006)'

/**
 * Deletes members whose lease has expired, which frees their targets (ON DELETE SET NULL). Skips members that are renewing it now.
 */
const DELETE_DEAD = `
  DELETE FROM callwatch.members WHERE id IN (
    SELECT id FROM callwatch.members WHERE ends <= statement_timestamp() FOR UPDATE SKIP LOCKED)`
const JOIN = `
  INSERT INTO callwatch.members (id, name, status, settings, ends)
  VALUES ($1, $2, $3, $4, statement_timestamp() + $5::float8 * interval '1 second')`
const DECLARE = 'UPDATE callwatch.members SET settings = $2, declared = DEFAULT WHERE id = $1'
/** The settings that all members must use. */
const DECLARED = 'SELECT name, settings FROM callwatch.members ORDER BY declared DESC LIMIT 1'
const RENEW = `
  UPDATE callwatch.members SET status = $2, ends = statement_timestamp() + $3::float8 * interval '1 second'
  WHERE id = $1 RETURNING id`
/**
 * One row, so that members and owners are of the same moment: the living members in the order in which they joined, and by owner the
 * epochs of its targets. The settings grow with the targets, so they are read only if their digest differs from this member's.
 */
const READ_MEMBERS = `
  SELECT declared.name, declared.settings,
    (SELECT coalesce(json_agg(json_build_object('id', id, 'name', name, 'status', status) ORDER BY joined), '[]')::text
      FROM callwatch.members) AS members,
    (SELECT coalesce(json_object_agg(owner, epochs), '{}')::text FROM (
      SELECT owner, json_object_agg(name, epoch) AS epochs FROM callwatch.targets WHERE owner IS NOT NULL GROUP BY owner
    ) AS by_owner) AS owned
  FROM (SELECT) AS always LEFT JOIN (${DECLARED}) AS declared ON encode(sha256(convert_to(settings, 'UTF8')), 'hex') <> $1`
/** Acquires free targets in the given order, for a member that is not deleted meanwhile. */
const ACQUIRE = `
  WITH member AS MATERIALIZED (SELECT id FROM callwatch.members WHERE id = $3 FOR KEY SHARE), free AS MATERIALIZED (
    SELECT number FROM callwatch.targets JOIN json_array_elements_text($1::text::json) WITH ORDINALITY AS wanted (name, place) USING (name)
    WHERE owner IS NULL ORDER BY place LIMIT $2 FOR UPDATE OF targets SKIP LOCKED
  )
  UPDATE callwatch.targets SET owner = member.id, epoch = epoch + 1 FROM free, member WHERE targets.number = free.number
  RETURNING name, epoch`
const RELEASE = 'UPDATE callwatch.targets SET owner = NULL WHERE owner = $1 AND name IN texts($2)'
const LEAVE = 'DELETE FROM callwatch.members WHERE id = $1'
/** Only the member that joined first sends notifications. Two senders would send each of them twice. */
const FIRST = 'SELECT id FROM callwatch.members ORDER BY joined LIMIT 1'
const IS_FIRST = `SELECT 1 FROM (${FIRST}) AS first WHERE id = $1`
const LIVING_OWNER = `
  SELECT members.id, members.name FROM callwatch.targets JOIN callwatch.members ON owner = id
  WHERE targets.name = $1 AND ends > statement_timestamp()`

/** Sorted, because two members that publish each other's targets in different orders could deadlock. */
const PUBLISH = `
  INSERT INTO callwatch.overviews (target, data)
  SELECT number, given.data FROM given(name text, data text, owner text) JOIN callwatch.targets USING (name, owner) ORDER BY number
  ON CONFLICT (target) DO UPDATE SET data = excluded.data, changed = pg_current_xact_id()`
/** The transactions that this statement sees. */
const CURSOR = 'SELECT NULL AS name, pg_current_snapshot()::text AS data'
const OVERVIEWS = 'SELECT name, overviews.data FROM callwatch.overviews JOIN callwatch.targets ON target = number'
/**
 * An overview is recent if the earlier snapshot did not see it. Transaction numbers alone do not show that, because a transaction
 * may commit after one that began later. All transactions below the snapshot's xmin had ended. Rows from a dump of another database
 * may have higher numbers than any transaction of this one; they are not recent.
 */
const SINCE = `${CURSOR} UNION ALL ${OVERVIEWS}
  WHERE changed >= pg_snapshot_xmin($1::pg_snapshot) AND NOT pg_visible_in_snapshot(changed, $1::pg_snapshot)
  AND changed < pg_snapshot_xmax(pg_current_snapshot())`

export type ClusterOptions = {
  lease: number
  /** Further steps of the transaction in which a member joins, after its settings were compared. */
  onJoin: () => Step[]
}

/** A commit of a target is valid only for this owner in this epoch of its ownership. */
export type Fence = { owner: string | null; epoch: number }

/** This daemon's membership among the daemons that share a database, for use by the rest of the store. */
export type Cluster = ReturnType<typeof clusterOf>

/**
 * @param sql a separate connection for the membership, so that no lease expires while commits wait
 */
export function clusterOf(sql: Sql, options: ClusterOptions) {
  const member: Member = { self: undefined, own: asJson({}), declared: undefined, epochs: new Map() }
  return {
    ...OF_THE_DATABASE,
    methods: { ...membershipOf(sql, member, options), ...ownershipOf(sql, member), expectLeader: leaderCheck(sql) },
    fenceOf: (target: string): Fence => {
      const { self } = member
      const epoch = member.epochs.get(target)
      if (self === undefined || epoch === undefined)
        throw new StoreError('stale', `this daemon does not own target ${target}; only its owner commits it`)
      return { owner: self, epoch }
    },
    /** A step that fails unless this member is the one that sends notifications. */
    senderFence: (): Step[] => [{ statement: IS_FIRST, args: [member.self ?? null], fence: 1 }],
    /** @throws {StoreError} refused: another member owns the target, whose row is locked */
    expectResettable: async (resetting: Sql, name: string): Promise<void> => {
      const [owner] = await resetting.all(LIVING_OWNER, [name])
      if (owner !== undefined && owner['id'] !== member.self) throw ownedError(name, String(owner['name']))
    },
    /** Call it after a reset of the target, which also resets its epochs. */
    forget: (name: string): void => void member.epochs.delete(name),
    publish: (overviews: ReadonlyMap<string, string>): Step => {
      const { self } = member
      return { statement: PUBLISH, given: self === undefined ? [] : [...overviews].map((each) => [...each, self]) }
    },
  }
}

/** This daemon as a member. */
type Member = {
  /** Its id; undefined while it is none. */
  self: string | undefined
  own: ReturnType<typeof asJson>
  /** The settings that the store has of this member. */
  declared: Member['own'] | undefined
  /** Of the targets that it owns. */
  epochs: Map<string, number>
}

function loseAll(member: Member): void {
  member.self = undefined
  member.epochs = new Map()
}

/** Joining, declaring settings, renewing and leaving. */
function membershipOf(sql: Sql, member: Member, { lease, onJoin }: ClusterOptions) {
  async function declareOwn(): Promise<void> {
    const { self, own } = member
    if (self === undefined || member.declared === own) return
    await sql.batch([{ statement: DECLARE, args: [self, own.json] }])
    if (self === member.self) member.declared = own
  }

  return {
    /** A member that does not renew its lease for this long is dead (seconds). */
    lease,
    /**
     * Joins as a member, or joins again after its lease was lost.
     *
     * @param name of the member, as other members show it
     * @param status that other members show of it until its first renewal (JSON)
     * @param given settings that must be the same for all members, by name; by default those declared last
     * @throws {OtherSettingsError} if the living members must use other settings
     * @throws {StoreError} refused: a newer callwatch has migrated the store
     */
    join: async (name: string, status: string, given?: Settings): Promise<void> => {
      const id = randomUUID()
      const settings = (member.own = given === undefined ? member.own : asJson(given))
      await sql.transaction(async (joining) => {
        const former = member.self === undefined ? [] : [{ statement: LEAVE, args: [member.self] }]
        await joining.batch([{ statement: LOCK }, { statement: DELETE_DEAD }, ...former])
        // A newer daemon may have migrated the store while this one was halted.
        await expectSchema({ run: joining.all, place: joining.place })
        const [latest] = await joining.all(DECLARED)
        const how = latest && difference(parse<Settings>(latest['settings']), settings.values)
        if (how !== undefined) throw new OtherSettingsError(String(latest?.['name']), how)
        const args = [id, name, status, settings.json, lease]
        await joining.batch([...onJoin(), { statement: JOIN, args }])
      })
      loseAll(member)
      member.self = id
      member.declared = settings
    },
    /**
     * Declares reloaded settings. All members must use them while this member lives, until another member declares others. If
     * the store cannot be written now, or this member is joining, the next renewal declares them.
     */
    declare: async (settings: Settings): Promise<void> => {
      const next = asJson(settings)
      // Settings that the store still has must not become newer than those that others declared since.
      const known = [member.own, member.declared].find((one) => one?.json === next.json)
      member.own = known ?? next
      await declareOwn()
    },
    /**
     * Renews the lease, and reads the status of the other members.
     *
     * @param status that other members show of this member (JSON)
     * @returns undefined if this member is dead; other members may own its targets now
     */
    renew: async (status: string) => {
      const me = member.self
      if (me === undefined) return undefined
      await declareOwn()
      // Three statements without a transaction, so that none holds a lock while it waits for another. The lease is also renewed
      // if a dead member cannot be deleted yet because its last commit still runs.
      const [[renewed], , [known]] = await Promise.all([
        sql.batch([{ statement: RENEW, args: [me, status, lease] }]),
        sql.batch([{ statement: DELETE_DEAD }]).catch(() => undefined),
        sql.all(READ_MEMBERS, [member.own.digest]),
      ])
      if (renewed!.length === 0) {
        loseAll(member)
        return undefined
      }
      const owned = parse<Owned>(known!['owned'])
      member.epochs = new Map(Object.entries(owned[me] ?? {}))
      return renewalOf(known!, owned, me, member.own.values)
    },
    /** Ends the membership, and releases every target. */
    leave: async (): Promise<void> => {
      const me = member.self
      loseAll(member)
      if (me !== undefined) await sql.batch([{ statement: LEAVE, args: [me] }])
    },
  }
}

/** Rejects unless the member with this id is the one that sends notifications. Those who ask meanwhile share the next answer. */
function leaderCheck(sql: Sql): (id: string | undefined) => Promise<void> {
  return batched<string | undefined, void>(
    async (ids) => {
      const [first] = await sql.all(FIRST)
      const stale = new StoreError('stale', 'another daemon is the leader')
      return ids.map((id) => (id !== undefined && first?.['id'] === id ? undefined : stale))
    },
    { most: Infinity, concurrent: 1 },
  )
}

/** Acquiring and releasing targets. */
function ownershipOf(sql: Sql, member: Member) {
  return {
    /** Acquires at most `most` targets that no living member owns, and returns them. */
    acquire: async (targets: readonly string[], most: number): Promise<readonly string[]> => {
      const me = member.self
      if (me === undefined || targets.length === 0 || most <= 0) return []
      const [acquired] = await sql.batch([{ statement: ACQUIRE, args: [list(targets), most, me] }])
      for (const { name, epoch } of acquired!) member.epochs.set(String(name), Number(epoch))
      return acquired!.map(({ name }) => String(name))
    },
    /** Releases targets, so that other members can acquire them at once. */
    release: async (targets: readonly string[]): Promise<void> => {
      for (const target of targets) member.epochs.delete(target)
      if (member.self !== undefined && targets.length > 0)
        await sql.batch([{ statement: RELEASE, args: [member.self, list(targets)] }])
    },
  }
}

/** What the rest of the store needs of a shared database. It depends on no membership. */
const OF_THE_DATABASE = {
  /** Whether the database refused this statement only, and would accept others. */
  isRefusal: (error: unknown): boolean => isAnswer(error) && !isOfServer(error),
  /** The first step of a transaction that locks many rows of the event log. Only one such transaction runs at a time. */
  ordering: { statement: EVENTS_LOCK } satisfies Step,
  /** Further tables with rows of a target, which are deleted when it leaves the configuration. */
  tables: ['overviews'],
}

/** Settings, and their digest as READ_MEMBERS computes it. It is SHA-256, because servers in FIPS mode refuse MD5. */
function asJson(values: Settings) {
  const json = JSON.stringify(values)
  return { values, json, digest: createHash('sha256').update(json).digest('hex') }
}

/**
 * Reads the overviews that became visible since an earlier call, by target, and the cursor for the next call. Some of them may have been
 * read before.
 *
 * @param cursor from the earlier call; undefined for all overviews
 */
export async function overviewsSince(sql: Sql, cursor?: string) {
  if (cursor === undefined) return readAll(sql)
  const rows = await sql.all(SINCE, [cursor])
  const next = String(rows.find(({ name }) => name === null)!['data'])
  // A restored database, or a standby that took over, may be behind the earlier call.
  if (isBefore(next, cursor)) return readAll(sql)
  return { cursor: next, overviews: byName(rows.filter(({ name }) => name !== null)) }
}

/** In a snapshot, because an ordinary statement could exceed its timeout. */
function readAll(sql: Sql) {
  return sql.transaction(async (reading) => {
    const [first] = await reading.all(CURSOR)
    const overviews = new Map<string, string>()
    await reading.each(OVERVIEWS, [], ([name, data]) => overviews.set(String(name), String(data)))
    return { cursor: String(first!['data']), overviews }
  }, 'snapshot')
}

function byName(rows: readonly Row[]): Map<string, string> {
  return new Map(rows.map(({ name, data }) => [String(name), String(data)]))
}

/** Snapshots are `xmin:xmax:…`. Within one database, neither number ever decreases. */
function isBefore(snapshot: string, earlier: string): boolean {
  const [numbers, known] = [snapshot, earlier].map((text) => text.split(':').slice(0, 2).map(BigInt))
  return numbers!.some((number, i) => number < known![i]!)
}

/** By the ids of owners, the epoch of each of their targets. */
type Owned = Readonly<Record<string, Readonly<Record<string, number>>>>

function renewalOf({ name, settings, members }: Row, owned: Owned, self: string, own: Settings) {
  const how = settings === null ? undefined : difference(parse<Settings>(settings), own)
  return {
    /** The id of this member. */
    self,
    /** All living members, including this one, in the order in which they joined. */
    members: parse<{ id: string; name: string; status: string }[]>(members),
    /** The id of the owner, by target. Only living members own targets. */
    owners: new Map(
      Object.entries(owned).flatMap(([id, targets]) => Object.keys(targets).map((target) => [target, id])),
    ),
    /** How this member's settings differ from those that a living member declared last. */
    differing: how === undefined ? undefined : new OtherSettingsError(String(name), how),
  }
}

function ownedError(name: string, owner: string): StoreError {
  return new StoreError(
    'refused',
    `target ${name} is owned by the daemon ${owner}; stop all daemons on this database, then start one with ` +
      `--reset-target ${name} (one that died counts until its lease has ended)`,
  )
}
