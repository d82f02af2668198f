import { NEVER, Subject } from 'rxjs'
import { expect, test } from 'vitest'
import { configReadings, type Reading } from '../../src/daemon/config-readings.ts'
import type { Config } from '../../src/config/config.ts'
import { ConfigError } from '../../src/config/config-error.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { virtualClock } from '../clock/virtual-clock.ts'

const env = { CALLWATCH_APP_ID: 'a1', CALLWATCH_REGION: 'eu', CALLWATCH_API_KEY: 'k' }
const FIRST = loadConfig({ env, cwd: import.meta.dirname })
const changed = (port: number): Config => ({ ...FIRST, http: { ...FIRST.http, port } })
const INVALID = { path: 'http.port', message: 'found a map; expected a number' }

/** Reads a configuration that a test changes at will. */
function reading() {
  const clock = virtualClock()
  const asked$ = new Subject<void>()
  const file: { says: Config | Error } = { says: FIRST }
  const told: Reading[] = []
  const load = () => {
    if (file.says instanceof Error) throw file.says
    // Read anew it is equal, not the same.
    return structuredClone(file.says)
  }
  configReadings({ load, first: FIRST, asked$, clock, stop$: NEVER }).subscribe((one) => told.push(one))
  return { clock, asked$, file, told }
}

test('nothing is told while the configuration says the same', async () => {
  const { clock, told } = reading()
  await clock.advance(60)
  expect(told).toEqual([])
})

test('a change is told once, within five seconds', async () => {
  const { clock, file, told } = reading()
  await clock.advance(10)
  file.says = changed(1)
  await clock.advance(5)
  expect(told).toEqual([{ config: changed(1) }])
  await clock.advance(60)
  expect(told).toHaveLength(1)
})

test('what stands there for a moment only, as while the file is being written, is not told', async () => {
  const { clock, file, told } = reading()
  await clock.advance(2)
  file.says = new ConfigError([INVALID])
  await clock.advance(2)
  file.says = changed(1)
  await clock.advance(10)
  expect(told).toEqual([{ config: changed(1) }])
})

test('an invalid configuration is told once, and so is the return of the old one', async () => {
  const { clock, file, told } = reading()
  file.says = new ConfigError([INVALID])
  await clock.advance(60)
  expect(told).toEqual([{ problems: [INVALID] }])
  file.says = FIRST
  await clock.advance(60)
  expect(told.slice(1)).toEqual([{ config: FIRST }])
})

test('whoever asks is told at once, also that nothing has changed', async () => {
  const { asked$, file, told } = reading()
  asked$.next()
  file.says = changed(1)
  asked$.next()
  expect(told).toEqual([{ config: FIRST }, { config: changed(1) }])
})

test('whatever keeps it from being read is a problem, not the end', async () => {
  const { clock, file, told } = reading()
  file.says = new Error('the disk is on fire')
  await clock.advance(10)
  expect(told).toEqual([
    { problems: [{ path: 'the configuration', message: 'cannot be read: Error: the disk is on fire' }] },
  ])
})
