import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'

const source = (name: string) => new URL(`../../src/commands/${name}.ts`, import.meta.url).href

/** Runs a command that gets signals before anything but `early-signals` is loaded. */
async function ran(command: string, signals: string[]) {
  const script = `
    process.argv.splice(1, 0, 'main.ts', '${command}')
    await import('${source('early-signals')}')
    const waiting = setTimeout(() => process.exit(9), 20_000)
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    for (const signal of ${JSON.stringify(signals)}) process.kill(process.pid, signal)
    for (let i = 0; i < 20; i++) await turn()
    const { stopSignal, hangUpSignal } = await import('${source('stop-signal')}')
    hangUpSignal().subscribe(() => console.log('hang up'))
    stopSignal().subscribe(() => (console.log('stop'), clearTimeout(waiting)))
    if (${signals.length} === 0) clearTimeout(waiting)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script])
  onTestFinished(() => void child.kill('SIGKILL'))
  const [stdout, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { stdout, code, signal }
}

test.each([
  [['SIGTERM'], 'stop\n', 0],
  [['SIGINT'], 'stop\n', 0],
  [['SIGHUP', 'SIGTERM'], 'hang up\nstop\n', 0],
  [['SIGTERM', 'SIGINT'], 'hang up\n'.slice(8), 1],
  [[], '', 0],
])('run handles %j though they come before it listens', async (signals, stdout, code) => {
  expect(await ran('run', signals)).toEqual({ stdout, code, signal: null })
})

test('any other command is ended by them', async () => {
  expect(await ran('check', ['SIGHUP'])).toEqual({ stdout: '', code: null, signal: 'SIGHUP' })
})

test('main.ts loads that before anything else', () => {
  const main = readFileSync(join(import.meta.dirname, '../../src/main.ts'), 'utf8')
  expect(main.match(/^.*import(?: '|\().*$/gm)).toEqual([
    "import './commands/early-signals.ts'",
    "await import('./program.ts')",
  ])
})
