import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { writeConfigFile } from './config-file.ts'
import type { PollAnswer } from './processes/callwatch.ts'
import type { Bench } from './scenario.ts'
import { steadyWorld } from './worlds.ts'

/**
 * A store in which so many calls of a steady world are tracked, made by a real initial sync once a run. A row that
 * writes to it takes a copy.
 *
 * @returns the path of its file
 */
export async function preparedStore(bench: Bench, calls: number): Promise<string> {
  const { folder, now, start } = bench
  const path = join(folder, `tracked-${calls}.db`)
  if (existsSync(path)) return path
  const service = await start('service', { world: steadyWorld(calls, now), now })
  const { url } = await service.ask<{ url: string }>({})
  const file = writeConfigFile(bench, { name: `tracked-${calls}`, urls: [url] })
  // The service's clock stands still, and callwatch's nearly does: polls continue from that moment.
  const callwatch = await start('callwatch', { file, now, speed: 0.1 })
  const sync = await callwatch.ask<PollAnswer>({ whole: true })
  await callwatch.ask({ end: true })
  await callwatch.end()
  await service.end()
  if (sync.calls !== calls) throw new Error(`callwatch tracks ${sync.calls} of ${calls} calls`)
  return path
}

/** A copy of a prepared store. */
export async function copyOfStore(bench: Bench, calls: number, name: string): Promise<string> {
  const path = join(bench.folder, `${name}.db`)
  copyFileSync(await preparedStore(bench, calls), path)
  return path
}
