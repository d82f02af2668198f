import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import { secretsMask } from '../../../src/log/mask-secrets.ts'
import { runProgram } from '../../../src/program.ts'
import { runningTime } from '../running-time.ts'

export const MAIN = join(import.meta.dirname, '../../../src/main.ts')

/** A run of the program that has ended; without a code if a signal ended its process. */
export type Ended = { code: number | null; stdout: string; stderr: string }

export type Running = {
  child: ChildProcess
  /** Everything that was printed so far. */
  stdout: () => string
  /** Resolves with the first match in the output; rejects when there is none in the time of a test. */
  printed: (pattern: RegExp) => Promise<RegExpExecArray>
  ended: Promise<Ended>
}

export type RunOptions = { env?: Record<string, string>; cwd?: string }

/** `columns` is the width of a terminal. */
type RunHere = RunOptions & { columns?: number | undefined }

/** Half of what a slow test has (milliseconds). */
const TIMEOUT = 150_000

/** What each run in this process restores, also if several run at the same time. */
const OUTSIDE = { env: process.env, cwd: process.cwd() }

/** The signals that a daemon listens for. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * Starts the program as a user does, with only PATH from this process's environment, in an empty folder unless another is
 * given. It is killed when the test ends.
 */
export function start(args: readonly string[], { env = {}, cwd = emptyFolder() }: RunOptions = {}): Running {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
  const printed = (pattern: RegExp) =>
    vi.waitFor(
      () => {
        const match = pattern.exec(stdout)
        if (match === null) throw new Error(`${String(pattern)} was not printed:\n${stdout}\n${stderr}`)
        return match
      },
      { timeout: TIMEOUT, interval: 20 },
    )
  return { child, stdout: () => stdout, printed, ended }
}

/**
 * Runs a command to its end, in this process, as {@link start} does in another one. `run`, `demo` and
 * `simulate` must fail at startup: no signal ends them here.
 *
 * @throws an error that would end the process with a stack trace
 */
export async function callwatch(
  args: readonly string[],
  { env: variables = {}, cwd = emptyFolder(), columns }: RunHere = {},
): Promise<Ended> {
  const printed = { stdout: '', stderr: '' }
  const into = (stream: keyof typeof printed) => ({
    isTTY: columns !== undefined,
    columns: columns ?? 0,
    hasColors: () => false,
    write: (text: string | Uint8Array) => {
      printed[stream] += String(text)
      return true
    },
  })
  const listeners = SIGNALS.map((signal) => process.listeners(signal))
  const env = { PATH: process.env['PATH'], ...variables }
  process.env = env
  process.chdir(cwd)
  try {
    const [stdout, stderr, secrets] = [into('stdout'), into('stderr'), secretsMask([])]
    const code = await runProgram(args, { env, cwd, stdout, stderr, secrets })
    return { code, ...printed }
  } finally {
    process.env = OUTSIDE.env
    process.chdir(OUTSIDE.cwd)
    for (const [i, signal] of SIGNALS.entries()) {
      for (const each of process.listeners(signal)) if (!listeners[i]!.includes(each)) process.off(signal, each)
    }
  }
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

/** Sends a signal, and expects the end within so many seconds in which it can run. */
export async function endedWithin(seconds: number, { child, ended }: Running, signal: NodeJS.Signals) {
  const taken = runningTime(child)
  child.kill(signal)
  const result = await ended
  expect(taken()).toBeLessThan(seconds)
  return result
}
