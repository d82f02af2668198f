import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from './scenario.ts'

/** The built program, running. */
export type Program = {
  /** From the start of the process to its first answer (seconds). */
  firstAnswer: number
  /** Resolves when the program is ready: its first poll was successful. */
  ready: () => Promise<void>
  /** What it takes, by its own metrics (RSS in bytes, processor time in seconds). */
  usage: () => Promise<{ rss: number; cpu: number }>
  end: () => Promise<void>
}

const PROJECT = join(import.meta.dirname, '..')
const READY_POLL_MS = 20

/** Builds the program into a folder of the bench; returns its main file. */
export function buildProgram({ folder }: Bench): string {
  const dir = join(folder, 'dist')
  execFileSync('npm', ['run', 'build', '--', '--dir', dir], { cwd: PROJECT, stdio: 'pipe' })
  return join(dir, 'main.js')
}

/** Starts the built program as the image does, and asks it as soon as it says its address. */
export async function startProgram(main: string, config: string): Promise<Program> {
  const { flags, env } = imageStart()
  const begun = performance.now()
  const child = spawn(process.execPath, [...flags, main, 'run', '--config', config], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  process.once('exit', () => child.kill('SIGKILL'))
  const url = await Promise.race([addressIn(child.stdout), exited.then(() => undefined)])
  if (url === undefined) throw new Error('the built program ended early')
  await fetch(`${url}healthz`)
  return {
    firstAnswer: (performance.now() - begun) / 1000,
    ready: async () => {
      while (!(await fetch(`${url}readyz`)).ok) await sleep(READY_POLL_MS)
    },
    usage: async () => {
      const text = await (await fetch(`${url}metrics`)).text()
      const valueOf = (name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
      return { rss: valueOf('process_resident_memory_bytes'), cpu: valueOf('process_cpu_seconds_total') }
    },
    end: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** The address that the log says. */
async function addressIn(log: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface(log)) {
    const { url }: { url?: string } = JSON.parse(line)
    if (url === undefined) continue
    log.resume()
    return url
  }
  return undefined
}

/** How the image starts Node.js: what its ENTRYPOINT has between `node` and the main file, and its settings of malloc. */
function imageStart(): { flags: string[]; env: Record<string, string> } {
  const dockerfile = readFileSync(join(PROJECT, 'Dockerfile'), 'utf8')
  const command: string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)![1]!)
  const settings = [...dockerfile.matchAll(/^ENV (MALLOC_\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ])
  return { flags: command.slice(1, -1), env: Object.fromEntries(settings) }
}
