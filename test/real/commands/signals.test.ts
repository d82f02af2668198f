import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'

const source = (name: string) => new URL(`../../../src/commands/${name}.ts`, import.meta.url).href

/** Runs a script in a process that waits until the script clears its timer; imports are `early` and `stop`. */
async function ran(script: string) {
  const whole = `
    const early = () => import('${source('early-signals')}')
    const stop = () => import('${source('stop-signal')}')
    const waiting = setTimeout(() => process.exit(9), 20_000)
    ${script}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', whole])
  onTestFinished(() => void child.kill('SIGKILL'))
  const [stdout, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { stdout, code, signal }
}

describe('a signal before the command listens', () => {
  /** Runs a command that gets signals when nothing but `early-signals` is loaded. */
  const ranEarly = (command: string, signals: string[]) =>
    ran(`
    process.argv.splice(1, 0, 'main.ts', '${command}')
    await early()
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    for (const signal of ${JSON.stringify(signals)}) process.kill(process.pid, signal)
    for (let i = 0; i < 20; i++) await turn()
    const { stopSignal, hangUpSignal } = await stop()
    hangUpSignal().subscribe(() => console.log('hang up'))
    stopSignal().subscribe(() => (console.log('stop'), clearTimeout(waiting)))
    if (${signals.length} === 0) clearTimeout(waiting)`)

  test.each([
    [['SIGTERM'], 'stop\n', 0],
    [['SIGINT'], 'stop\n', 0],
    [['SIGHUP', 'SIGTERM'], 'hang up\nstop\n', 0],
    [['SIGTERM', 'SIGINT'], '', 1],
    [[], '', 0],
  ])('is kept for run: %j', async (signals, stdout, code) => {
    expect(await ranEarly('run', signals)).toEqual({ stdout, code, signal: null })
  })

  test('ends any other command', async () => {
    expect(await ranEarly('check', ['SIGHUP'])).toEqual({ stdout: '', code: null, signal: 'SIGHUP' })
  })

  test('is kept from the first import of main.ts', () => {
    const main = readFileSync(join(import.meta.dirname, '../../../src/main.ts'), 'utf8')
    const imported = [...main.matchAll(/^import .*?'(.*)'$/gm)].map(([, from = '']) => from)
    expect(imported[0]).toBe('./commands/early-signals.ts')
    expect(imported.slice(1).filter((from) => !from.startsWith('node:'))).toEqual([])
  })
})

test.each([
  [
    'before the first subscription is not lost',
    `process.kill(process.pid, 'SIGTERM')
    await signalled
    draining$.subscribe({ next: () => console.log('stop'), complete: () => clearTimeout(waiting) })`,
    'stop\n',
    0,
  ],
  [
    'reaches each subscriber once',
    `draining$.subscribe(() => console.log('first'))
    process.kill(process.pid, 'SIGTERM')
    await signalled
    draining$.subscribe({ next: () => console.log('second'), complete: () => clearTimeout(waiting) })`,
    'first\nsecond\n',
    0,
  ],
  [
    'ends the process when it is the second, also after a different one',
    `draining$.subscribe(() => process.kill(process.pid, 'SIGINT'))
    process.kill(process.pid, 'SIGTERM')`,
    '',
    1,
  ],
  [
    'right after the first is not lost',
    `process.kill(process.pid, 'SIGTERM')
    process.kill(process.pid, 'SIGINT')`,
    '',
    1,
  ],
  [
    'that comes twice at once, as from a terminal and from npm, is one',
    `draining$.subscribe(() => console.log('stop'))
    process.kill(process.pid, 'SIGINT')
    await new Promise((resolve) => process.once('SIGINT', resolve))
    process.kill(process.pid, 'SIGINT')
    setTimeout(() => clearTimeout(waiting), 100)`,
    'stop\n',
    0,
  ],
  [
    'ends the process when it is the second, also of the same kind, half a second later',
    `process.kill(process.pid, 'SIGINT')
    setTimeout(() => process.kill(process.pid, 'SIGINT'), 600)`,
    '',
    1,
  ],
  ['that does not come keeps no process alive', 'clearTimeout(waiting)', '', 0],
])('a stop signal %s', async (_what, script, stdout, code) => {
  const listening = `
    const draining$ = (await stop()).stopSignal()
    const signalled = new Promise((resolve) => process.once('SIGTERM', resolve))
    ${script}`
  expect(await ran(listening)).toEqual({ stdout, code, signal: null })
})
