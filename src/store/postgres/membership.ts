import { randomUUID } from 'node:crypto'
import { difference, type Settings } from '../settings.ts'
import { OtherSettingsError, type Beat, type Sharing } from '../sharing.ts'
import type { Row, Session } from './connection.ts'
import { codeOf } from './postgres-error.ts'
import type { Pool } from './pool.ts'
import { LOCK } from './schema.ts'
import { transaction } from './transaction.ts'
import type { Fence } from './write-commit.ts'

/** What this daemon is to the others, and what the store needs to know of that. */
export type Membership = Omit<Sharing, 'missed' | 'holds'> & {
  /** Its id, while it is a member. */
  self: () => string | undefined
  /** Under what it may commit a target; undefined where it does not own it. */
  fenceOf: (target: string) => Fence | undefined
  /** The target was removed, and its epochs with it. */
  forget: (target: string) => void
}

/**
 * The dead go, and their targets are free with them (ON DELETE SET NULL). One who is just renewing his lease is passed
 * over: he lives.
 */
const BURY = `
  DELETE FROM callwatch.members WHERE id IN (
    SELECT id FROM callwatch.members WHERE ends <= statement_timestamp() FOR UPDATE SKIP LOCKED)`

const JOIN = `
  INSERT INTO callwatch.members (id, name, note, settings, ends)
  VALUES ($1::uuid, $2, $3, $4, statement_timestamp() + $5::float8 * interval '1 second')`

const DECLARE = 'UPDATE callwatch.members SET settings = $2, declared = DEFAULT WHERE id = $1::uuid'

/** What all members are to go by. */
const DECLARED = 'SELECT name, settings FROM callwatch.members ORDER BY declared DESC LIMIT 1'

const RENEW = `
  UPDATE callwatch.members SET note = $2, ends = statement_timestamp() + $3::float8 * interval '1 second'
  WHERE id = $1::uuid RETURNING id`

/** Everything in one statement, so that members and owners are of one moment. */
const LOOK = `
  SELECT 'settings' AS kind, NULL AS id, name, settings AS text, NULL::float8 AS number FROM (${DECLARED}) AS declared
  UNION ALL SELECT 'member', id::text, name, note, joined FROM callwatch.members
  UNION ALL SELECT 'owner', owner::text, name, NULL, CASE WHEN owner = $1::uuid THEN epoch END
    FROM callwatch.targets WHERE owner IS NOT NULL`

const CLAIM = `
  WITH free AS MATERIALIZED (
    SELECT number FROM callwatch.targets JOIN unnest($2::text[]) WITH ORDINALITY AS wanted (name, place) USING (name)
    WHERE owner IS NULL ORDER BY place LIMIT $3 FOR UPDATE OF targets SKIP LOCKED
  )
  UPDATE callwatch.targets SET owner = $1::uuid, epoch = epoch + 1 FROM free
  WHERE targets.number = free.number AND EXISTS (SELECT FROM callwatch.members WHERE id = $1::uuid)
  RETURNING name, epoch`

const RELEASE = 'UPDATE callwatch.targets SET owner = NULL WHERE owner = $1::uuid AND name = ANY ($2::text[])'

const LEAVE = 'DELETE FROM callwatch.members WHERE id = $1::uuid'

/** A reference to a row that is gone: who claims was buried in between. */
const FOREIGN_KEY_VIOLATION = '23503'

export type MembershipOptions = {
  lease: number
  /** What is to be done with the joining, once it is known that the settings are the same. */
  onJoin: (session: Session) => Promise<void>
}

/** @param pool of its own, so that no lease ends because commits are waiting */
export function membership(pool: Pool, { lease, onJoin }: MembershipOptions): Membership {
  let self: string | undefined
  let own: Settings = {}
  let epochs = new Map<string, number>()

  const loseAll = (): void => {
    self = undefined
    epochs = new Map()
  }

  async function enter(
    session: Session,
    settings: Settings,
    [id, name, note]: readonly [id: string, name: string, note: string],
  ): Promise<void> {
    await session.run(LOCK)
    await session.run(BURY)
    if (self !== undefined) await session.run(LEAVE, [self])
    const [declared] = await session.run(DECLARED)
    const how = declared && difference(settingsOf(declared['settings']), settings)
    if (how !== undefined) throw new OtherSettingsError(String(declared?.['name']), how)
    await Promise.all([onJoin(session), session.run(JOIN, [id, name, note, JSON.stringify(settings), lease])])
  }

  return {
    lease,
    self: () => self,
    fenceOf: (target) => {
      const epoch = epochs.get(target)
      return self === undefined || epoch === undefined ? undefined : { owner: self, epoch }
    },
    forget: (target) => void epochs.delete(target),
    join: (name, settings, note) =>
      pool.use(async (connection) => {
        const id = randomUUID()
        await transaction(connection, (session) => enter(session, settings, [id, name, note]))
        loseAll()
        self = id
        own = settings
      }),
    declare: (settings) =>
      pool.use(async ({ run }) => {
        own = settings
        if (self !== undefined) await run(DECLARE, [self, JSON.stringify(settings)])
      }),
    beat: (note) =>
      pool.use(async ({ run }) => {
        const me = self
        if (me === undefined) return undefined
        // Three statements, each by itself: nobody who waits for another one holds anything. Where the dead cannot be
        // buried, since a commit of one of them is still on its way, the living live on.
        const [renewed, , rows] = await Promise.all([
          run(RENEW, [me, note, lease]),
          run(BURY).catch(() => []),
          run(LOOK, [me]),
        ])
        if (renewed.length === 0) {
          loseAll()
          return undefined
        }
        const owned = rows.filter(({ kind, id }) => kind === 'owner' && id === me)
        epochs = new Map(owned.map(({ name, number }) => [String(name), Number(number)]))
        return beatOf(rows, me, own)
      }),
    claim: (targets, most) =>
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

function beatOf(rows: readonly Row[], self: string, own: Settings): Beat {
  const ofKind = (wanted: string) => rows.filter(({ kind }) => kind === wanted)
  const [declared] = ofKind('settings')
  const how = declared && difference(settingsOf(declared['text']), own)
  return {
    self,
    members: ofKind('member')
      .toSorted((a, b) => Number(a['number']) - Number(b['number']))
      .map(({ id, name, text }) => ({ id: String(id), name: String(name), note: String(text) })),
    owners: new Map(ofKind('owner').map(({ id, name }) => [String(name), String(id)])),
    differing: how === undefined ? undefined : new OtherSettingsError(String(declared?.['name']), how),
  }
}

function settingsOf(data: unknown): Settings {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this file only
  return JSON.parse(String(data)) as Settings
}
