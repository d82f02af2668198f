import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MAIN = join(import.meta.dirname, '../../src/main.ts')
const PRELOAD = join(import.meta.dirname, 'pause-commit.ts')
const OUTPUT_TIMEOUT_MS = 120_000

/** A process of the daemon. */
export type DaemonProcess = {
  child: ChildProcess
  /** Where its page is, with a slash at the end. */
  url: string
  /** All that it has written so far, to both streams. */
  output: () => string
  /** Resolves as soon as the output has a match; rejects when the process ends or two minutes pass first. */
  logged: (pattern: RegExp) => Promise<RegExpMatchArray>
  /** Sends a signal; resolves with the exit code, null where the signal itself ended it. */
  end: (signal: NodeJS.Signals) => Promise<number | null>
}

/** Every daemon that was started and may still run. */
export const running = new Set<ChildProcess>()
// None outlives this process.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/**
 * Starts the daemon as a user would, with the preload that can pause it inside a commit; resolves when it is ready.
 *
 * @param orderFile what the preload reads
 * @throws Error with all of its output when it ends before
 */
export async function startDaemonProcess(config: string, orderFile: string): Promise<DaemonProcess> {
  writeFileSync(orderFile, '')
  const child = spawn(process.execPath, ['--import', PRELOAD, MAIN, 'run', '--config', config], {
    env: { PATH: process.env['PATH'] ?? '', CHAOS_ORDER: orderFile },
    stdio: 'pipe',
  })
  running.add(child)
  const written: string[] = []
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      written.push(text)
      for (const listener of listeners) listener()
    })
  }
  const exited = once(child, 'exit').then(([code]: (number | null)[]) => {
    running.delete(child)
    return code ?? null
  })
  const logged = (pattern: RegExp) =>
    new Promise<RegExpMatchArray>((resolve, reject) => {
      const fail = (why: string) =>
        reject(new Error(`${why} before it wrote ${String(pattern)}:\n${written.join('').slice(-2000)}`))
      const timeout = setTimeout(() => fail('two minutes passed'), OUTPUT_TIMEOUT_MS)
      const check = () => {
        const match = written.slice(-20).join('').match(pattern)
        if (match === null) return
        clearTimeout(timeout)
        listeners.delete(check)
        resolve(match)
      }
      listeners.add(check)
      check()
      void exited.then(() => {
        clearTimeout(timeout)
        fail('the daemon ended')
      })
    })
  const [, url] = await logged(/page at (http:\S+?)"/)
  return {
    child,
    url: url!,
    output: () => written.join(''),
    logged,
    end: (signal) => {
      child.kill(signal)
      return exited
    },
  }
}
