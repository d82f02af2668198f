import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const MAIN = join(import.meta.dirname, '../../../src/main.ts')

/** A running callwatch process. */
export type Program = {
  child: ChildProcess
  /** All that it has written so far, to both streams. */
  output: () => string
  /** Resolves with the match as soon as the output has one; rejects when the process ends first. */
  printed: (pattern: RegExp) => Promise<RegExpMatchArray>
  /** Sends a signal and resolves with the exit code, null where the signal itself ended it. */
  end: (signal: NodeJS.Signals) => Promise<number | null>
}

/** Starts `callwatch` as a user would, with nothing of this machine's environment but the path. */
export function startProgram(
  args: readonly string[],
  env: Record<string, string> = {},
  main = MAIN,
  node = process.execPath,
): Program {
  const child = spawn(node, [main, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: 'pipe',
  })
  let output = ''
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      for (const listener of listeners) listener()
    })
  }
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  onTestFinished(() => void child.kill('SIGKILL'))
  return {
    child,
    output: () => output,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const match = output.match(pattern)
          if (match === null) return
          listeners.delete(check)
          resolve(match)
        }
        listeners.add(check)
        check()
        void exited.then(() => reject(new Error(`the process ended without saying ${String(pattern)}:\n${output}`)))
      }),
    end: (signal) => {
      child.kill(signal)
      return exited
    },
  }
}
