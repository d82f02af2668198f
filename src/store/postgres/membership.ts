import { createHash, randomUUID } from 'node:crypto'
import { parse } from '../rows.ts'
import { difference, type Settings } from '../settings.ts'
import { OtherSettingsError, type Renewal, type ClusterStore } from '../cluster-store.ts'
import type { Row, Session } from './connection.ts'
import { REOPEN_CALLS } from './removed-targets.ts'
import { codeOf } from './postgres-error.ts'
import type { Pool } from './pool.ts'
import { LOCK } from './schema.ts'
import { transaction } from './transaction.ts'
import type { Fence } from './write-commits.ts'

/** This daemon as a member, and what the store needs to know of that. */
export type Membership = Omit<ClusterStore, 'pauses' | 'addTargets' | 'publish' | 'numberEvents' | 'overviewsSince'> & {
  /** Its id, while it is a member. */
  self: () => string | undefined
  /** The fence under which it may commit a target; undefined where it does not own it. */
  fenceOf: (target: string) => Fence | undefined
  /** The target was reset, and its epochs with it. */
  dropTarget: (target: string) => void
}

/**
 * Deletes members whose lease has ended, which frees their targets (ON DELETE SET NULL); not those that renew it just now.
 */
const DELETE_DEAD = `
  DELETE FROM callwatch.members WHERE id IN (
    SELECT id FROM callwatch.members WHERE ends <= statement_timestamp() FOR UPDATE SKIP LOCKED)`

const JOIN = `
  INSERT INTO callwatch.members (id, name, note, settings, ends)
  VALUES ($1::uuid, $2, $3, $4, statement_timestamp() + $5::float8 * interval '1 second')`

const DECLARE = 'UPDATE callwatch.members SET settings = $2, declared = DEFAULT WHERE id = $1::uuid'

/** The settings that all members must use. */
const DECLARED = 'SELECT name, settings FROM callwatch.members ORDER BY declared DESC LIMIT 1'

const RENEW = `
  UPDATE callwatch.members SET note = $2, ends = statement_timestamp() + $3::float8 * interval '1 second'
  WHERE id = $1::uuid RETURNING id`

/**
 * Everything in one statement, so that members and owners are of one moment: the targets of each owner in one row, as JSON
 * of their epochs, since there are many. The settings, which grow with the targets, only where they are not this member's, by their digest.
 */
const READ_MEMBERS = `
  SELECT 'settings' AS kind, NULL AS id, name, settings AS text, NULL::float8 AS number FROM (${DECLARED}) AS declared
    WHERE md5(settings) <> $1
  UNION ALL SELECT 'member', id::text, name, note, joined FROM callwatch.members
  UNION ALL SELECT 'owner', owner::text, NULL, json_object_agg(name, epoch)::text, NULL
    FROM callwatch.targets WHERE owner IS NOT NULL GROUP BY owner`

const CLAIM = `
  WITH free AS MATERIALIZED (
    SELECT number, removed FROM callwatch.targets JOIN unnest($2::text[]) WITH ORDINALITY AS wanted (name, place) USING (name)
    WHERE owner IS NULL ORDER BY place LIMIT $3 FOR UPDATE OF targets SKIP LOCKED
  ), claimed AS (
    UPDATE callwatch.targets SET owner = $1::uuid, epoch = epoch + 1, removed = NULL FROM free
    WHERE targets.number = free.number AND EXISTS (SELECT FROM callwatch.members WHERE id = $1::uuid)
    RETURNING name, epoch, free.*
  ), back AS (SELECT number, removed FROM claimed WHERE removed IS NOT NULL), ${REOPEN_CALLS}
  SELECT name, epoch FROM claimed`

const RELEASE = 'UPDATE callwatch.targets SET owner = NULL WHERE owner = $1::uuid AND name = ANY ($2::text[])'

const LEAVE = 'DELETE FROM callwatch.members WHERE id = $1::uuid'

/** A reference to a row that is gone: the claiming member was deleted in between. */
const FOREIGN_KEY_VIOLATION = '23503'

export type MembershipOptions = {
  lease: number
  /** Runs in the transaction that joins, once the settings are known to be the same. */
  onJoin: (session: Session) => Promise<void>
}

/** @param pool of its own, so that no lease ends because commits wait */
export function membership(pool: Pool, { lease, onJoin }: MembershipOptions): Membership {
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
    ownDigest = digestOf(JSON.stringify(settings))
  }

  async function enter(
    session: Session,
    settings: Settings,
    [id, name, status]: readonly [id: string, name: string, status: string],
  ): Promise<void> {
    await session.run(LOCK)
    await session.run(DELETE_DEAD)
    if (self !== undefined) await session.run(LEAVE, [self])
    const [declared] = await session.run(DECLARED)
    const how = declared && difference(parse<Settings>(declared['settings']), settings)
    if (how !== undefined) throw new OtherSettingsError(String(declared?.['name']), how)
    await Promise.all([onJoin(session), session.run(JOIN, [id, name, status, JSON.stringify(settings), lease])])
  }

  return {
    lease,
    self: () => self,
    fenceOf: (target) => {
      const epoch = epochs.get(target)
      return self === undefined || epoch === undefined ? undefined : { owner: self, epoch }
    },
    dropTarget: (target) => void epochs.delete(target),
    join: (name, settings, status) =>
      pool.use(async (connection) => {
        const id = randomUUID()
        await transaction(connection, (session) => enter(session, settings, [id, name, status]))
        loseAll()
        self = id
        setOwn(settings)
      }),
    declare: (settings) =>
      pool.use(async ({ run }) => {
        setOwn(settings)
        if (self !== undefined) await run(DECLARE, [self, JSON.stringify(settings)])
      }),
    renew: (status) =>
      pool.use(async ({ run }) => {
        const me = self
        if (me === undefined) return undefined
        // Three statements without a transaction: none holds a lock while it waits for another one. The lease is renewed
        // also where a dead member cannot be deleted yet, because its last commit still runs.
        const [renewed, , rows] = await Promise.all([
          run(RENEW, [me, status, lease]),
          run(DELETE_DEAD).catch(() => []),
          run(READ_MEMBERS, [ownDigest]),
        ])
        if (renewed.length === 0) {
          loseAll()
          return undefined
        }
        const owned = ownedBy(rows)
        epochs = new Map(Object.entries(owned.get(me) ?? {}))
        return renewalOf(rows, owned, me, own)
      }),
    acquire: (targets, most) =>
      pool.use(async ({ run }) => {
        const me = self
        if (me === undefined || targets.length === 0 || most <= 0) return []
        const claimed = await run(CLAIM, [me, targets, most]).catch((error: unknown) => {
          if (codeOf(error) === FOREIGN_KEY_VIOLATION) return []
          throw error
        })
        for (const { name, epoch } of claimed) epochs.set(String(name), Number(epoch))
        return claimed.map(({ name }) => String(name))
      }),
    release: async (targets) => {
      for (const target of targets) epochs.delete(target)
      await pool.use(async ({ run }) => {
        if (self !== undefined && targets.length > 0) await run(RELEASE, [self, targets])
      })
    },
    leave: async () => {
      const me = self
      loseAll()
      if (me !== undefined) await pool.use(({ run }) => run(LEAVE, [me]))
    },
  }
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

/** As PostgreSQL's md5. */
function digestOf(text: string): string {
  return createHash('md5').update(text).digest('hex')
}
