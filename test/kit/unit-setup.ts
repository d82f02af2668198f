import child from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

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
