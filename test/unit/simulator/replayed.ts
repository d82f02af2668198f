import { readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { replay } from '../../../src/simulator/replay.ts'

/** Serves a recording of `check --probe --record` until the test ends; the service's base address. */
export async function replayed(file: string): Promise<string> {
  const { url, close } = await replay(JSON.parse(readFileSync(file, 'utf8')).answers)
  onTestFinished(close)
  return url
}
