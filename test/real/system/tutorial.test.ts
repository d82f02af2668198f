import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { emptyFolder } from '../../kit/commands/callwatch.ts'
import { freePort } from '../../kit/postgres/start-postgres.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** The terminals whose programs keep running, in the order of the page. */
const TERMINALS = ['first', 'second', 'third']
const WAIT = { timeout: 60_000, interval: 200 }

test('the programs of the tutorial print what it shows', async () => {
  // Other programs of this machine may use its ports.
  const ports = new Map(
    await Promise.all(['8080', '9000', '9464'].map(async (port) => [port, String(await freePort())] as const)),
  )
  const page = readFileSync(join(ROOT, 'docs/tutorial.md'), 'utf8').replaceAll(/\b(?:8080|9000|9464)\b/g, (port) =>
    ports.get(port)!,
  )
  const folder = emptyFolder()
  const env = { CALLWATCH_HTTP_PORT: ports.get('9464')! }
  const running: Program[] = []
  let last: Program | undefined
  // The first block installs callwatch.
  const blocks = [...page.matchAll(/^```(sh|text)(?: (\w+) terminal)?\n(.*?)^```/gms)].slice(1)
  for (const [, kind, terminal, block = ''] of blocks) {
    if (kind === 'sh') {
      last = start(block.replace(' simulate ', ` simulate --port ${ports.get('8080')} `), folder, env)
      if (/simulate|createServer| run /.test(block)) running.push(last)
      else expect(await last.ended, last.output()).toBe(0)
      continue
    }
    const shown = terminal === undefined ? last! : running[TERMINALS.indexOf(terminal)]!
    for (const line of block.trim().split('\n')) {
      await vi.waitFor(() => expect(shown.output()).toContain(line), WAIT)
    }
  }
  expect(running).toHaveLength(TERMINALS.length)
})

type Program = { output: () => string; ended: Promise<number | null> }

/** Runs a block of the page in a shell, with this clone's callwatch; ends it after the test. */
function start(block: string, folder: string, env: Record<string, string>): Program {
  const commands = block.replaceAll('npx node', process.execPath).replaceAll('src/main.ts', join(ROOT, 'src/main.ts'))
  // A group of its own, so that the programs of the shell end with it.
  const child = spawn('sh', ['-ec', commands], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...env },
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  onTestFinished(async () => {
    try {
      // Programs of the group may be left although the shell has ended.
      process.kill(-child.pid!, 'SIGTERM')
    } catch {
      // None is left.
    }
    await ended
  })
  return { output: () => output, ended }
}
