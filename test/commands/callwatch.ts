import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'

export const MAIN = join(import.meta.dirname, '../../src/main.ts')

/** A run of the program that has ended. */
export type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }

export type Running = {
  child: ChildProcess
  /** All that was printed until now. */
  stdout: () => string
  /** Resolves with the first match in what is printed; rejects when there is none within ten seconds. */
  printed: (pattern: RegExp) => Promise<RegExpExecArray>
  ended: Promise<Ended>
}

export type RunOptions = { env?: Record<string, string>; cwd?: string }

/** No command takes longer than this (milliseconds); one that does is killed, and its test sees the signal. */
const LONGEST = 30_000

/**
 * Starts the program as a user does, with nothing of this process's environment but the PATH, in an empty folder unless
 * another is given. It is killed when the test ends.
 */
export function start(args: readonly string[], { env = {}, cwd = emptyFolder() }: RunOptions = {}): Running {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    timeout: LONGEST,
    killSignal: 'SIGKILL',
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  const printed = (pattern: RegExp) =>
    vi.waitFor(
      () => {
        const match = pattern.exec(stdout)
        if (match === null) throw new Error(`${String(pattern)} was not printed:\n${stdout}\n${stderr}`)
        return match
      },
      { timeout: 10_000, interval: 20 },
    )
  return { child, stdout: () => stdout, printed, ended }
}

/** Runs the program to its end. */
export function callwatch(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return start(args, options).ended
}

/** A folder with nothing in it; gone after the test. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'callwatch-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A configuration file in a folder of its own; its path. */
export function configFile(yaml: string): string {
  const path = join(emptyFolder(), 'callwatch.yaml')
  writeFileSync(path, yaml)
  return path
}
