#!/usr/bin/env node
// Everything else takes a while to load, and a signal may arrive meanwhile.
// oxlint-disable-next-line import/no-unassigned-import -- it is imported for what it does
import './commands/early-signals.ts'
import { existsSync, mkdirSync, statSync, writeSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { inspect } from 'node:util'

/** The oldest major version of Node.js that callwatch runs on, as `engines` in package.json says. */
const OLDEST = 24
const { versions } = process
if (Number.parseInt(versions.node) < OLDEST) {
  // Older versions cannot load the rest of the program. Until here it imports no name that they lack.
  writeSync(process.stderr.fd, `callwatch needs Node.js ${OLDEST} or later, and this is ${versions.node}.\n`)
  process.exit(1)
}
keepCompiled()
// Node.js has Temporal since version 26.
if (!('Temporal' in globalThis)) await import('temporal-polyfill/global')
const { runProgram } = await import('./program.ts')
const { secretsMask } = await import('./log/mask-secrets.ts')

/** Knows the secrets of every configuration that was loaded. */
const secrets = secretsMask([])
process.once('uncaughtException', die)
const { env, stdout, stderr } = process
for (const stream of [stdout, stderr]) stream.on('error', surviveOutput)
process.exitCode = await runProgram(process.argv.slice(2), { env, cwd: process.cwd(), stdout, stderr, secrets }).catch(
  die,
)
if (isDaemon()) {
  await endOutput()
  // A daemon that failed, or that something did not answer, may not have closed everything that keeps a process alive.
  process.exit()
}

/**
 * Keeps compiled code for the next start, in a folder that only the user can write: otherwise another user could replace the
 * code. Without such a folder, every start compiles.
 */
function keepCompiled(): void {
  try {
    const caches = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
    if (!isAbsolute(caches)) return
    const folder = join(caches, 'callwatch')
    // Not recursively. That would create the home folder of a user without one, and never return below /proc.
    for (const each of [caches, folder]) if (!existsSync(each)) mkdirSync(each, { mode: 0o700 })
    const { uid, mode } = statSync(folder)
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0) return
    module.enableCompileCache(folder)
    // The thread of the store uses the same folder.
    process.env['NODE_COMPILE_CACHE'] = folder
  } catch {
    // The folder is read-only, as in many containers, or there is no home folder.
  }
}

/** Ends the process after a bug: its state is no longer reliable, and a supervisor starts a new one. */
function die(error: unknown): never {
  try {
    writeSync(process.stderr.fd, `${secrets.mask(inspect(error))}\n`)
  } catch {
    // Standard error is closed, so the problem cannot be reported.
  }
  process.exit(1)
}

function isDaemon(): boolean {
  return process.argv[2] === 'run'
}

/**
 * The daemon continues without its log, because counting and alerting do not depend on it. If nothing reads a command's
 * output any more, as with `callwatch check | head -1`, the command ends at once and silently.
 */
function surviveOutput(error: NodeJS.ErrnoException): void {
  if (isDaemon()) return
  if (error.code !== 'EPIPE') throw error
  process.exit()
}

/** Ends the process even if output waits for a pipe without a reader, which would keep the process alive. */
async function endOutput(): Promise<void> {
  if (stdout.writableLength + stderr.writableLength === 0) return
  const { sleep, systemClock } = await import('./clock/clock.ts')
  const written = [stdout, stderr].map((stream) => new Promise((resolve) => stream.write('', resolve)))
  await Promise.race([Promise.all(written), sleep(systemClock, 1)])
  process.exit()
}
