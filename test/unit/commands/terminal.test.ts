import { expect, test } from 'vitest'
import { tableLines, widthOf } from '../../../src/commands/command.ts'
import { eventLine } from '../../../src/commands/events.ts'
import { newEvents } from '../../../src/events/new-events.ts'
import type { ReadEvent } from '../../../src/events/read-events.ts'
import { callwatch } from '../../kit/commands/callwatch.ts'
import { storeInUse } from '../../kit/commands/store-in-use.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { openIn } from '../../kit/store/place.ts'

const TARGETS = ['school-us-006', 'school-us-012']
const SESSION = 'v1.us.simulator.3d656285b993a7040c81ee11'
const COLUMNS = 80

/** The configuration of a store with two targets, a call of each, and a long silence. */
async function filled(targets = TARGETS) {
  const { store, config } = storeInUse(targets)
  for (const name of targets) {
    const { see, deltaOf } = await openIn(store, { name, fingerprint: name })
    await see(completePoll(30))
    const observation = completePoll(250, seen(SESSION, 'rejected', { initiatedAt: CREATED, endedAt: CREATED + 90 }))
    const ledger = deltaOf(observation)
    await see(observation, { events: newEvents({ ledger, notifications: [], backfilled: false }, Date.now() / 1000) })
  }
  const match = { alert: `=~${Array.from({ length: 9 }, (_, i) => `RuleWithALongName${i}`).join('|')}` }
  const [since, until] = [Date.now() / 1000, Date.now() / 1000 + 3600]
  await store.addSilence({ match, since, until, reason: 'a ticket of the vendor', author: 'somebody' })
  return config
}

const KEYS = 'day,target,type,mode,receiver_type'

test.each([['calls', '--since', '2026-09-21'], ['events'], ['silence', 'list'], ['report', '--by', KEYS]])(
  '%s %s has no line longer than a terminal of 80 columns',
  async (...args) => {
    const config = await filled()
    const printed = async (columns?: number) => (await callwatch([...args, '--config', config], { columns })).stdout
    const longest = (text: string) => Math.max(...text.split('\n').map(({ length }) => length))
    expect(longest(await printed(COLUMNS))).toBeLessThanOrEqual(COLUMNS)
    expect(longest(await printed())).toBeGreaterThan(COLUMNS)
  },
)

test('a terminal gets JSON, CSV and a configuration as a file gets them', async () => {
  const config = await filled([
    'a school whose name has many words and goes on until no terminal has room for it',
    'another one',
  ])
  for (const args of [
    ['calls', '--since', '2026-09-21', '--json'],
    ['calls', '--since', '2026-09-21', '--format', 'csv'],
    ['report', '--since', '2026-09-21', '--until', '2026-09-22', '--by', 'target', '--format', 'csv'],
    ['silence', 'list', '--json'],
    ['check'],
  ]) {
    const [narrow, whole] = await Promise.all([COLUMNS, undefined].map(async (columns) => callwatch([...args, '--config', config], { columns }))) // oxfmt-ignore
    expect(narrow!.stdout).toBe(whole!.stdout)
    expect(whole!.stdout).not.toBe('')
  }
})

test('calls of several targets have their target in a terminal, and the ends of their session ids', async () => {
  const config = await filled()
  const { stdout } = await callwatch(['calls', '--since', '2026-09-21', '--config', config], { columns: COLUMNS })
  expect(stdout.split('\n')).toEqual([
    'finished (UTC)       target         session id                status    duration',
    expect.stringMatching(/^\S+ \S+ {2}school-us-0\d\d {2}v1\.us\.simula…7040c81ee11 .*rejected/),
    expect.stringMatching(/^\S+ \S+ {2}school-us-0\d\d {2}v1\.us\.simula…7040c81ee11 .*rejected/),
    '--wide also prints: began (UTC), type, mode, receiver, participants, the',
    '  whole session id',
    '',
  ])
})

test('a terminal that does not know its width has room for all columns', () => {
  const stdout = { isTTY: true, columns: 0, write: () => true, hasColors: () => false }
  expect(widthOf({ stdout }, { wide: false })).toBe(Infinity)
})

test('a table that is too wide without its least important columns shortens its longest texts', () => {
  const rows = [[SESSION, 'a target with a long name', '1']]
  const within = (width: number) => tableLines(['session id', 'target', 'n'], rows, 2, { width, givesWay: ['n'] })
  expect(within(67)).toEqual([`session id${' '.repeat(32)}target`, `${SESSION}  a target with a long name`, '--wide also prints: n']) // oxfmt-ignore
  expect(within(50)).toEqual([
    `session id${' '.repeat(15)}target`,
    'v1.us.simul…7040c81ee11  a target with a long name',
    '--wide also prints: n, the whole session id',
  ])
  expect(within(44)[1]).toMatch(/^v1\.us\.\S+…\S+ {2}a target with a long name$/)
})

test('an event is one line of a terminal: without the date of today, a call with a short id, an alert without its last details', () => {
  const time = new Date().toISOString()
  const call = {
    target: 'production',
    call_id: SESSION,
    session_id: SESSION,
    type: 'video',
    mode: 'call',
    duration_seconds: 61,
  }
  const alert = {
    target: 'production',
    alert: 'HighFailureRate',
    labels: {},
    severity: 'warning',
    signal: 'failure_ratio',
    value: 0.674,
    threshold: 0.45,
  }
  const lineOf = (type: string, data: object, at: string, width?: number) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a line needs
    eventLine({ event: { type, time: at, data } as ReadEvent['event'] }, width)
  const clock = `${time.slice(11, 19)} UTC  production`
  const ended = lineOf('callwatch.call.ended', call, time, COLUMNS)
  expect(ended).toMatch(new RegExp(`^${clock}  ended       v1\\.us\\.\\w+…\\w+81ee11  video call, 1m 1s$`))
  expect(ended).toHaveLength(COLUMNS)
  expect(lineOf('callwatch.alert.firing', alert, time, COLUMNS)).toBe(
    `${clock}  firing      HighFailureRate  warning, 67.4%`,
  )
  const corrected = { ...call, before: { status: 'ended', minutes: {} }, after: { status: 'rejected' }, minutes: {} }
  expect(lineOf('callwatch.call.corrected', corrected, time, COLUMNS)).toMatch(/  ended → rejected/)
  const midnight = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000)
  expect(lineOf('callwatch.alert.firing', alert, midnight.toISOString(), COLUMNS)).toMatch(/^00:00:00 UTC/)
  const before = new Date(midnight.getTime() - 1000).toISOString()
  expect(lineOf('callwatch.alert.firing', alert, before, COLUMNS)).toMatch(`${before.slice(0, 10)} 23:59:59 UTC`)
  const whole = `2026-09-21 14:13:20 UTC  production  ended       ${SESSION}  video call, 1m 1s`
  expect(lineOf('callwatch.call.ended', call, '2026-09-21T14:13:20Z')).toBe(whole)
  expect(lineOf('callwatch.call.ended', call, '2026-09-21T14:13:20Z', COLUMNS)).toMatch(/^2026-09-21 14:13:20 UTC .*…/)
  expect(lineOf('callwatch.alert.firing', alert, time)).toMatch(/warning, failure_ratio 67\.4%, threshold 45%$/)
})
