import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writeConfigFile } from './config-file.ts'
import type { PollAnswer } from './processes/callwatch.ts'
import type { Bench } from './scenario.ts'
import { steadyWorld } from './worlds.ts'

/**
 * A store in which so many calls of a steady world are tracked, made by a real initial sync once a run. To be read only:
 * its calls are those of the scenario that asked for it first.
 *
 * @returns the path of its file
 */
export async function preparedStore(bench: Bench, calls: number): Promise<string> {
  const path = join(bench.folder, `tracked-${calls}.db`)
  return existsSync(path) ? path : makeStore(bench, calls, `tracked-${calls}`)
}

/**
 * Makes a store in which so many calls of the scenario's steady world are tracked, by a real initial sync.
 *
 * @returns the path of its file
 */
export async function makeStore(bench: Bench, calls: number, name: string): Promise<string> {
  const { folder, now, start } = bench
  const service = await start('service', { world: steadyWorld(calls, now), now })
  const { url } = await service.ask<{ url: string }>({})
  const file = writeConfigFile(bench, { name, urls: [url] })
  // The service's clock stands still, and callwatch's nearly does: polls continue from that moment.
  const callwatch = await start('callwatch', { file, now, speed: 0.1 })
  const sync = await callwatch.ask<PollAnswer>({ whole: true })
  await callwatch.ask({ end: true })
  await callwatch.end()
  await service.end()
  if (sync.calls !== calls) throw new Error(`callwatch tracks ${sync.calls} of ${calls} calls`)
  return join(folder, `${name}.db`)
}
