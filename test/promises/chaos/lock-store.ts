import { DatabaseSync } from 'node:sqlite'

/** `node lock-store.ts FILE`: holds the store's write lock from the line `locked` on until its input ends, 30 s at most. */
const db = new DatabaseSync(process.argv[2]!, { timeout: 5000 })
db.exec('BEGIN IMMEDIATE')
process.stdout.write('locked\n')
const release = () => {
  if (!db.isOpen) return
  db.exec('ROLLBACK')
  db.close()
  process.exit()
}
process.stdin.once('end', release).resume()
setTimeout(release, 30_000)
