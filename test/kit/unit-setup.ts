import child from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import * as fc from 'fast-check'
import { runs } from './runs.ts'
import { seedsOfCommit } from './seeds-of-commit.ts'

// In CI, the commit decides what is drawn: what failed fails again.
const [seed = 0] = process.env['CI'] === 'true' ? seedsOfCommit(1) : []

/** A unit test that starts a server or a process would be slow, and depend on the machine. */
function refuse(what: string): never {
  throw new Error(`a unit test may not ${what}: move it to test/contract or test/real`)
}

net.Server.prototype.listen = () => refuse('start a server')
Object.assign(
  child,
  Object.fromEntries(
    ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'].map((name) => [
      name,
      () => refuse('start a process'),
    ]),
  ),
)
syncBuiltinESMExports()

fc.configureGlobal({ numRuns: runs(100), ...(seed !== 0 && { seed }) })
