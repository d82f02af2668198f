import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'

const source = new URL('../../src/commands/stop-signal.ts', import.meta.url).href

/** Runs a script that waits, with `stop$` at hand, until its timer is cleared. */
async function ran(script: string) {
  const whole = `
    import { stopSignal } from '${source}'
    const stop$ = stopSignal()
    const waiting = setTimeout(() => process.exit(9), 20_000)
    const signalled = new Promise((resolve) => process.once('SIGTERM', resolve))
    ${script}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', whole])
  onTestFinished(() => void child.kill('SIGKILL'))
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { stdout, code }
}

test('a signal that comes before anybody asks is not lost', async () => {
  const { stdout, code } = await ran(`
    process.kill(process.pid, 'SIGTERM')
    await signalled
    stop$.subscribe({ next: () => console.log('stop'), complete: () => clearTimeout(waiting) })`)
  expect({ stdout, code }).toEqual({ stdout: 'stop\n', code: 0 })
})

test('everybody who asks is told once', async () => {
  const { stdout, code } = await ran(`
    stop$.subscribe(() => console.log('first'))
    process.kill(process.pid, 'SIGTERM')
    await signalled
    stop$.subscribe({ next: () => console.log('second'), complete: () => clearTimeout(waiting) })`)
  expect({ stdout, code }).toEqual({ stdout: 'first\nsecond\n', code: 0 })
})

test('the second signal ends the process, whichever the first was', async () => {
  const { stdout, code } = await ran(`
    stop$.subscribe(() => process.kill(process.pid, 'SIGINT'))
    process.kill(process.pid, 'SIGTERM')`)
  expect({ stdout, code }).toEqual({ stdout: '', code: 1 })
})

test('a second signal right behind the first is not lost', async () => {
  const { code } = await ran(`
    process.kill(process.pid, 'SIGTERM')
    process.kill(process.pid, 'SIGINT')`)
  expect(code).toBe(1)
})

test('it keeps no process alive', async () => {
  expect(await ran('clearTimeout(waiting)')).toEqual({ stdout: '', code: 0 })
})
