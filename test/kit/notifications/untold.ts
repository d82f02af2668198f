import type { Entry } from '../../../src/notifications/delivery/notified.ts'
import type { RowReader } from '../../../src/store/sql.ts'

/** The alerts that have ended and of which a receiver knows only that they fire, or may know. */
export async function untold({ rows }: RowReader): Promise<string[]> {
  const ended = await rows('SELECT target, alert, since FROM callwatch.alert_episodes WHERE until IS NOT NULL')
  const over = new Set(ended.map(({ target, alert, since }) => JSON.stringify([target, alert, Number(since)])))
  const told = await rows('SELECT receiver, accepted, data FROM callwatch.notified')
  return told.flatMap(({ receiver, data }) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon wrote
    const { begun } = JSON.parse(String(data)) as { begun: Entry[] }
    const left = begun.filter((one) => one.ended === undefined && over.has(JSON.stringify([one.target, one.key, one.firingSince]))) // oxfmt-ignore
    return left.map(({ target, key }) => `${String(receiver)}: ${key} on ${target}`)
  })
}
