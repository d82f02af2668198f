import type { Session } from './connection.ts'

/** Until when requests with a key are held back (UNIX seconds by the host's clock). */
export async function heldUntil(session: Session, key: string): Promise<number | undefined> {
  return (await heldOf(session, [key])).get(key)
}

/** The same for those of several keys that are held back. */
export async function heldOf(session: Session, keys: readonly string[]): Promise<Map<string, number>> {
  if (keys.length === 0) return new Map()
  const rows = await session.run('SELECT key, until FROM callwatch.holds WHERE key = ANY ($1::text[])', [keys])
  return new Map(rows.map(({ key, until }) => [String(key), Number(until)]))
}

/** Holds them back at least until then: several daemons ask with one key, and are told each its own time. */
export async function hold(session: Session, key: string, until: number): Promise<void> {
  await session.run(
    `INSERT INTO callwatch.holds AS known (key, until) VALUES ($1, $2::float8)
    ON CONFLICT (key) DO UPDATE SET until = greatest(known.until, excluded.until)`,
    [key, until],
  )
}
