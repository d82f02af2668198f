import { NEVER, Subject } from 'rxjs'
import { expect, test } from 'vitest'
import { configReadings, type ConfigReading } from '../../../src/daemon/config-readings.ts'
import type { Config } from '../../../src/config/config.ts'
import { ConfigError } from '../../../src/config/config-error.ts'
import { loadConfig } from '../../../src/config/load-config.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

const env = { CALLWATCH_APP_ID: 'a1', CALLWATCH_REGION: 'eu', CALLWATCH_API_KEY: 'k' }
const FIRST = loadConfig({ env, cwd: import.meta.dirname })
const changed = (port: number): Config => ({ ...FIRST, http: { ...FIRST.http, port } })
const INVALID = { path: 'http.port', message: 'found a map; expected a number' }

/** Reads a configuration that the test changes. */
function reading() {
  const clock = virtualClock()
  const requested$ = new Subject<void>()
  const file: { says: Config | Error } = { says: FIRST }
  const readings: ConfigReading[] = []
  const load = () => {
    if (file.says instanceof Error) throw file.says
    // A new reading is equal, not identical.
    return structuredClone(file.says)
  }
  configReadings({ load, first: FIRST, requested$, clock, draining$: NEVER }).subscribe((one) => readings.push(one))
  return { clock, requested$, file, readings }
}

test('nothing is emitted while the configuration is unchanged', async () => {
  const { clock, readings } = reading()
  await clock.advance(60)
  expect(readings).toEqual([])
})

test('a changed configuration is emitted once, within five seconds', async () => {
  const { clock, file, readings } = reading()
  await clock.advance(10)
  file.says = changed(1)
  await clock.advance(5)
  expect(readings).toEqual([{ config: changed(1) }])
  await clock.advance(60)
  expect(readings).toHaveLength(1)
})

test('a configuration that is there only for a moment, as while the file is being written, is not emitted', async () => {
  const { clock, file, readings } = reading()
  await clock.advance(2)
  file.says = new ConfigError([INVALID])
  await clock.advance(2)
  file.says = changed(1)
  await clock.advance(10)
  expect(readings).toEqual([{ config: changed(1) }])
})

test('an invalid configuration is emitted once, and so is the return of the old one', async () => {
  const { clock, file, readings } = reading()
  file.says = new ConfigError([INVALID])
  await clock.advance(60)
  expect(readings).toEqual([{ problems: [INVALID] }])
  file.says = FIRST
  await clock.advance(60)
  expect(readings.slice(1)).toEqual([{ config: FIRST }])
})

test('a requested reading is emitted at once, also of an unchanged configuration', async () => {
  const { requested$, file, readings } = reading()
  requested$.next()
  file.says = changed(1)
  requested$.next()
  expect(readings).toEqual([{ config: FIRST }, { config: changed(1) }])
})

test('an unexpected error while reading the configuration is a problem, and does not end the readings', async () => {
  const { clock, file, readings } = reading()
  file.says = new Error('the disk is on fire')
  await clock.advance(10)
  expect(readings).toEqual([
    { problems: [{ path: 'the configuration', message: 'cannot be read: Error: the disk is on fire' }] },
  ])
})
