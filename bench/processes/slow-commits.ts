import { DatabaseSync } from 'node:sqlite'

/** Preloaded into a daemon (`node --import`): its disk takes half a second to confirm every 40th COMMIT. */
const SLOW_EVERY = 40
const PAUSE_MS = 500

// oxlint-disable-next-line typescript/unbound-method -- always called with the database that it was called on
const { exec } = DatabaseSync.prototype
let commits = 0

DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string): void {
  exec.call(this, sql)
  if (sql !== 'COMMIT') return
  commits += 1
  if (commits % SLOW_EVERY === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
}
