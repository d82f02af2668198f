import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Measured } from './measure.ts'

/**
 * `npm run bench -- [--calls N] [--json]`: what callwatch costs beside the floor, a process that only fetches the same
 * pages and parses them. Service, floor and callwatch are processes of their own.
 */
const { values } = parseArgs({
  options: { calls: { type: 'string', default: '100000' }, json: { type: 'boolean', default: false } },
})
const service = fork(join(import.meta.dirname, 'prepared-service.ts'), [values.calls])
const folder = mkdtempSync(join(tmpdir(), 'callwatch-bench-'))
try {
  const { url, pages } = await answerOf<{ url: string; pages: number }>(service)
  const [floor] = await runsOf('floor.ts', url, String(pages))
  const [first, sweep] = await runsOf('callwatch.ts', url, folder)
  const rows = [
    { row: 'first-poll wall', ratio: first!.wall / floor!.wall, target: 1.5 },
    { row: 'first-poll cpu', ratio: first!.cpu / floor!.cpu, target: 1.9 },
    { row: 'full-sweep cpu', ratio: sweep!.cpu / floor!.cpu, target: 1.15 },
  ].map((row) => ({ ...row, verdict: row.ratio <= row.target ? 'pass' : 'falls short' }))
  if (first!.calls !== Number(values.calls)) throw new Error(`callwatch saw ${first!.calls} of ${values.calls} calls`)
  if (values.json) console.log(JSON.stringify({ calls: first!.calls, floor, first, sweep, rows }, null, 2))
  else {
    console.log(`${values.calls} calls; floor: ${floor!.wall.toFixed(2)} s, ${floor!.cpu.toFixed(2)} s of processor`)
    for (const { row, ratio, target, verdict } of rows) {
      console.log(`${row.padEnd(18)}${ratio.toFixed(2)} × floor   target ${target}   ${verdict}`)
    }
  }
} finally {
  service.disconnect()
  rmSync(folder, { recursive: true, force: true })
}

async function runsOf(file: string, ...args: string[]): Promise<Measured[]> {
  const child = fork(join(import.meta.dirname, file), args)
  return (await answerOf<{ runs: Measured[] }>(child)).runs
}

/** The first thing that a child process says. */
async function answerOf<T>(child: ReturnType<typeof fork>): Promise<T> {
  const died = once(child, 'exit').then(() => Promise.reject(new Error('a process of the bench ended early')))
  const [message] = await Promise.race([once(child, 'message'), died])
  died.catch(() => undefined)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own processes say
  return message as T
}
