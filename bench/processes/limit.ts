import { once } from 'node:events'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { Client } from 'undici'
import { answer, forkedWith } from './answer.ts'
import { measure } from './measure.ts'

/**
 * The limit: what the floor does, and each call as one row with a key and one index by time, in commits of 500, on disk before the
 * next 500 are taken, in a thread of its own. It is the least that a program does which survives a crash.
 */
const CALLS_A_COMMIT = 500
const COLUMNS = ['sessionId', 'initiatedAt', 'startedAt', 'endedAt', 'status', 'type', 'mode', 'receiverType', 'mid', 'totalParticipants', 'totalDurationInMinutes', 'totalAudioMinutes', 'totalVideoMinutes', 'hasRecording'] // oxfmt-ignore

if (isMainThread) await read()
else write()

async function read(): Promise<void> {
  const writer = new Worker(import.meta.filename, { workerData: forkedWith<{ path: string }>().path })
  await once(writer, 'message')
  answer(async ({ url, paths }: { url: string; paths: string[] }) => {
    const { origin, pathname } = new URL(url)
    const client = new Client(origin)
    const { measured, result: calls } = await measure(async () => {
      let calls = 0
      let rows: SQLInputValue[][] = []
      const commit = async () => {
        writer.postMessage(rows, [])
        rows = []
        await once(writer, 'message')
      }
      for (const each of paths) {
        const { body } = await client.request({ method: 'GET', path: pathname + each })
        const { data }: { data: Record<string, SQLInputValue | undefined | boolean>[] } = JSON.parse(await body.text())
        for (const call of data) rows.push(COLUMNS.map((name) => valueOf(call[name])))
        calls += data.length
        if (rows.length >= CALLS_A_COMMIT) await commit()
      }
      if (rows.length > 0) await commit()
      return calls
    })
    await client.close()
    return { ...measured, calls }
  })
}

function valueOf(value: SQLInputValue | undefined | boolean): SQLInputValue {
  return typeof value === 'boolean' ? Number(value) : (value ?? null)
}

function write(): void {
  const db = new DatabaseSync(workerData)
  const [key, ...rest] = COLUMNS
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec(`CREATE TABLE calls (${key} TEXT PRIMARY KEY, ${rest.join(', ')}) WITHOUT ROWID`)
  db.exec('CREATE INDEX by_time ON calls (endedAt)')
  const insert = db.prepare(`INSERT OR REPLACE INTO calls VALUES (${COLUMNS.map(() => '?').join(', ')})`)
  const port = parentPort!
  port.postMessage('ready')
  port.on('message', (rows: SQLInputValue[][]) => {
    db.exec('BEGIN')
    for (const row of rows) insert.run(...row)
    db.exec('COMMIT')
    port.postMessage('written')
  })
}
