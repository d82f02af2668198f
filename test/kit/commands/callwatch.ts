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

type RunningHere = Omit<Running, 'child'> & { kill: (signal: Signal) => void }

/** Half of what a slow test has (milliseconds). */
const TIMEOUT = 150_000

/** What each run in this process restores, also if several run at the same time. */
const OUTSIDE = { env: process.env, cwd: process.cwd() }

/** The signals that a daemon listens for. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

type Signal = (typeof SIGNALS)[number]

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
  return { child, stdout: () => stdout, printed: matchIn(() => ({ stdout, stderr })), ended }
}

/** Resolves with the first match in what is printed. */
function matchIn(output: () => Omit<Ended, 'code'>) {
  return (pattern: RegExp) =>
    vi.waitFor(
      () => {
        const { stdout, stderr } = output()
        const match = pattern.exec(stdout)
        if (match === null) throw new Error(`${String(pattern)} was not printed:\n${stdout}\n${stderr}`)
        return match
      },
      { timeout: TIMEOUT, interval: 20 },
    )
}

/**
 * Runs a command to its end, in this process, as {@link start} does in another one. `run` and `demo` must fail at startup: no
 * signal ends them here.
 *
 * @throws an error that would end the process with a stack trace
 */
export function callwatch(args: readonly string[], options?: RunHere): Promise<Ended> {
  return runHere(args, options).ended
}

/** Starts a command in this process; `kill` ends it as a signal does, when the test ends at the latest. */
export function startHere(args: readonly string[], options?: RunHere): RunningHere {
  const running = runHere(args, options)
  onTestFinished(async () => {
    running.kill('SIGTERM')
    await running.ended
  })
  return running
}

function runHere(
  args: readonly string[],
  { env: variables = {}, cwd = emptyFolder(), columns }: RunHere = {},
): RunningHere {
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
  const others = new Set(SIGNALS.flatMap((signal) => process.listeners(signal)))
  const listenersOf = (signal: Signal) => process.listeners(signal).filter((each) => !others.has(each))
  const run = async () => {
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
      for (const signal of SIGNALS) for (const each of listenersOf(signal)) process.off(signal, each)
    }
  }
  return {
    stdout: () => printed.stdout,
    printed: matchIn(() => printed),
    ended: run(),
    kill: (signal) => listenersOf(signal).forEach((each) => each(signal)),
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
