import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteStore } from '../../src/store/open-sqlite.ts'
import type { Delivered } from '../processes/deliver.ts'
import type { Bench, Scenario } from '../scenario.ts'

const EVENTS_A_COMMIT = 20
/** Seconds for which a webhook with a backlog is watched. */
const WATCHED = 20
const UNAVAILABLE = 503

/** A receiver that accepts everything gets so many events a second, each in a request of its own. */
export const webhook: Scenario = {
  name: 'webhook',
  rows: ['events delivered', 'backlog'],
  run: async (bench) => {
    const { delivered, backlog } = bench.sizes
    const accepting = await bench.start('receiver', {})
    const refusing = await bench.start('receiver', { status: UNAVAILABLE })
    const deliver = async (name: string, events: number, receiver: typeof accepting, question: object) => {
      const { url } = await receiver.ask<{ url: string }>({})
      const process = await bench.start('deliver', { path: await logOf(bench, name, events), url })
      return process.ask<Delivered>(question)
    }
    const fast = await deliver('delivered', delivered, accepting, { until: delivered })
    const { received } = await accepting.ask<{ received: number }>({})
    if (received !== delivered) throw new Error(`the receiver got ${received} of ${delivered} events`)
    const behind = await deliver('backlog', backlog, refusing, { seconds: WATCHED })
    return [
      {
        row: 'events delivered',
        measured: (1000 * fast.wall) / fast.events,
        target: 1,
        unit: 'ms an event',
        note: `${Math.round(fast.events / fast.wall)} a second, one a request; ${((1000 * fast.cpu) / fast.events).toFixed(2)} ms of the processor each`,
      },
      {
        row: 'backlog',
        measured: behind.growth / 1e6,
        target: 50,
        unit: 'MB',
        note: `growth (RSS) in ${WATCHED} s with ${backlog} events that no receiver takes`,
      },
    ]
  },
}

/** A store whose log has so many events of calls that began. */
async function logOf({ folder, now }: Bench, name: string, events: number): Promise<string> {
  const path = join(folder, `${name}.db`)
  await openSqliteStore({ path }).close()
  const db = new DatabaseSync(path)
  const insert = db.prepare(
    "INSERT INTO events (id, target, at, n, position, total, data, participants) VALUES (?, ?, ?, ?, ?, ?, ?, '')",
  )
  db.exec('BEGIN')
  for (let total = 0; total < events; total += EVENTS_A_COMMIT) {
    const texts = Array.from({ length: EVENTS_A_COMMIT }, (_, i) => eventOf(`v1.us.208136f5ba34a5a2.${total + i}`, now))
    insert.run(`019a9f0e-6c11-7d3a-9a52-${String(total).padStart(12, '0')}`, 'bench', now, texts.length, total / EVENTS_A_COMMIT + 1, total + texts.length, texts.join('\n')) // oxfmt-ignore
  }
  db.exec('COMMIT')
  db.close()
  return path
}

/** As large as an ordinary one. */
function eventOf(subject: string, now: number): string {
  const time = new Date(now * 1000).toISOString()
  const labels = { type: 'video', mode: 'call', receiver_type: 'user' }
  const call = { target: 'bench', session_id: subject, ...labels, status: 'initiated', began: time, participants: 2 }
  const step = { from: 'none', to: 'initiated', inferred: false, detected_at: time, backfilled: false }
  const data = { ...call, minutes: { audio: 0, video: 0 }, has_recording: false, ...step }
  return JSON.stringify({ type: 'call.initiated', subject, time, data })
}
