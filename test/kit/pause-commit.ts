import { readFileSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/**
 * Preloaded into the daemon (`node --import`) by the chaos run alone. What the file named by CHAOS_ORDER says decides
 * what happens to the store: `before` and `after` block the next COMMIT on that side of it, until the process is
 * killed; `full` lets the database grow no more.
 */
const order = process.env['CHAOS_ORDER']!
const LONGEST_PAUSE_MS = 20_000
const MOST_PAGES = 4_294_967_294

// oxlint-disable-next-line typescript/unbound-method -- always called with the database that it was called on
const { exec } = DatabaseSync.prototype
let isFull = false

DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string): void {
  if (sql === 'BEGIN IMMEDIATE') limit(this)
  if (sql !== 'COMMIT') {
    exec.call(this, sql)
    return
  }
  const wanted = ordered()
  if (wanted === 'before') pause(wanted)
  exec.call(this, sql)
  if (wanted === 'after') pause(wanted)
}

function ordered(): string {
  return readFileSync(order, 'utf8')
}

/** SQLite takes a limit below the present size for the present size. What is free of that is filled, row by row. */
function limit(db: DatabaseSync): void {
  const wanted = ordered() === 'full'
  if (wanted === isFull) return
  isFull = wanted
  exec.call(db, `PRAGMA max_page_count = ${wanted ? 1 : MOST_PAGES}`)
  if (wanted) fill(db)
  else exec.call(db, 'DROP TABLE IF EXISTS filling')
}

function fill(db: DatabaseSync): void {
  try {
    exec.call(db, 'CREATE TABLE IF NOT EXISTS filling (row BLOB)')
    for (;;) exec.call(db, 'INSERT INTO filling VALUES (zeroblob(4000))')
  } catch (error) {
    if (!/is full/.test(String(error))) throw error
  }
}

function pause(side: string): void {
  writeSync(2, `chaos: paused ${side} COMMIT\n`)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LONGEST_PAUSE_MS)
}
