import { expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../../src/clock/clock.ts'
import { linesOf } from '../../../src/commands/calls/listing.ts'
import { newEvents } from '../../../src/events/new-events.ts'
import type { Observation } from '../../../src/ledger/observation.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { openIn } from '../../kit/store/place.ts'
import { callwatch, startHere } from '../../kit/commands/callwatch.ts'
import { storeInUse } from '../../kit/commands/store-in-use.ts'

/** A store that a daemon still holds open, with calls of `a`, and the arguments that name its configuration. */
async function counted() {
  const { store, config } = storeInUse(['a'])
  const target = await openIn(store, { name: 'a', fingerprint: 'x' })
  const see = async (observation: Observation) => {
    const ledger = target.deltaOf(observation)
    const events = newEvents({ ledger, notifications: [], backfilled: false }, Date.now() / 1000)
    await target.see(observation, { events })
  }
  const over = (id: string, status: 'ended' | 'rejected', at: number, type: 'audio' | 'video' = 'audio') =>
    seen(id, status, { type, initiatedAt: CREATED + at - 5, endedAt: CREATED + at })
  await see(completePoll(30))
  await see(
    completePoll(
      250,
      over('first', 'rejected', 100),
      over('fine', 'ended', 150, 'video'),
      over('last', 'rejected', 200),
      seen('open', 'ongoing', { initiatedAt: CREATED + 40, startedAt: CREATED + 50 }),
    ),
  )
  return { see, over, args: ['calls', '--config', config] }
}

/** CSV and JSON have each id twice: of the call, and of its session. */
const idsIn = (text: string) => [...new Set(text.match(/\b(?:first|fine|last|open|new|unlike)\b/g))]

test('calls prints the calls in progress, or those of a time, by the filters of the API', async () => {
  const { args } = await counted()
  const ids = async (...more: string[]) => {
    const { code, stdout, stderr } = await callwatch([...args, ...more])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return idsIn(stdout)
  }
  expect(await ids()).toEqual(['open'])
  expect(await ids('--since', '2026-09-21')).toEqual(['last', 'fine', 'first'])
  expect(await ids('--since', '2026-09-21', '--status', 'rejected')).toEqual(['last', 'first'])
  expect(await ids('--since', '2026-09-21', '--type', 'video', '--format', 'csv')).toEqual(['fine'])
  const sheet = await callwatch([...args, '--since', '2026-09-21', '--type', 'video', '--format', 'excel'])
  expect(sheet.stdout.split('\n').map((line) => line.split(';', 3).join(' '))).toEqual([
    '\uFEFFtarget call_id session_id',
    expect.stringMatching(/ fine fine$/),
    '',
  ])
  expect(await ids('--since', '2026-09-21', '--session-id', 'fi', '--json')).toEqual(['fine', 'first'])
  expect(await ids('--session-id', 'fi')).toEqual(['fine', 'first'])
  expect(await ids('--session-id', 'op')).toEqual(['open'])
  const some = await callwatch([...args, '--since', '2026-09-21', '--limit', '2'])
  expect(idsIn(some.stdout)).toEqual(['last', 'fine'])
  expect(some.stderr).toBe('these are the newest 2; --limit prints more\n')
})

test('calls prints which calls have been open for longest, on whatever target, and for how long', async () => {
  const { store, config } = storeInUse(['a', 'b', 'c'])
  const now = Date.now() / 1000
  const open = (id: string, ago: number) => seen(id, 'ongoing', { initiatedAt: now - ago })
  for (const [name, ...calls] of [
    ['a', open('young', 60), open('old', 7200)],
    ['b', open('oldest', 10_800)],
  ] as const) {
    const { see } = await openIn(store, { name, fingerprint: name })
    await see(completePoll(now - CREATED, ...calls))
  }
  const { stdout, stderr } = await callwatch(['calls', '--limit', '2', '--config', config])
  expect(stdout.split('\n').map((line) => line.replaceAll(/^\S+ \S+ +/g, '').replaceAll(/ +/g, ' '))).toEqual([
    'target session id type mode receiver status duration participants',
    expect.stringMatching(/^b oldest audio call user ongoing 3h.* so far 0$/),
    expect.stringMatching(/^a old audio call user ongoing 2h.* so far 0$/),
    '',
  ])
  expect(stderr).toBe('these are the oldest 2; --limit prints more\n')
})

test('calls prints as many calls as --limit says, and finds calls by id, however long the search takes', async () => {
  const { args, see, over } = await counted()
  const times = Array.from({ length: 6000 }, (_, i) => i % 150)
  await see(completePoll(400, ...times.map((at, i) => over(`many ${i}`, 'ended', 201 + at))))
  // Each time that the search looks at the clock, it has taken ten seconds more.
  let now = 0
  const slow = vi.spyOn(systemClock, 'monotonic').mockImplementation(() => (now += 10))
  onTestFinished(() => slow.mockRestore())
  const list = async (...more: string[]) => {
    const { code, stdout, stderr } = await callwatch([...args, '--since', '2026-09-21', ...more])
    return [code, stdout.trimEnd().split('\n').length, stderr]
  }
  expect(await list('--limit', '5900', '--format', 'ndjson')).toEqual([
    0,
    5900,
    'these are the newest 5900; --limit prints more\n',
  ])
  expect(await list('--limit', '7000', '--format', 'ndjson')).toEqual([0, 6003, ''])
  expect(await list('--session-id', 'fir', '--format', 'ndjson')).toEqual([0, 1, ''])
})

test('calls --began prints the calls that began in a period', async () => {
  const { args } = await counted()
  const list = async (...more: string[]) => (await callwatch([...args, ...more, '--format', 'ndjson'])).stdout
  const { began } = JSON.parse((await list('--since', '2026-09-21', '--session-id', 'first')).trim())
  const period = ['--since', began, '--until', new Date(Date.parse(began) + 1000).toISOString()]
  expect(await list(...period)).toBe('')
  expect(await list(...period, '--began')).toContain('"session_id":"first"')
})

test('calls lists all calls of a session, with a call id where it is not the session id', async () => {
  const { args, see, over } = await counted()
  const again = (id: string, at: number) => ({ ...over(id, 'ended', at), session: 'first' })
  await see(completePoll(400, again('cw:AbCdEfGhIjKlMnOpQrStUv', 320), again('cw:vUtSrQpOnMlKjIhGfEdCbA', 350)))
  const list = async (...more: string[]) => (await callwatch([...args, '--since', '2026-09-21', ...more])).stdout
  expect(await list('--session-id', 'first')).toBe(
    [
      'began (UTC)          finished (UTC)       target  call id                    session id  type   mode  receiver  status    duration  participants',
      '2026-09-21 14:19:05  2026-09-21 14:19:10  a       cw:vUtSrQpOnMlKjIhGfEdCbA  first       audio  call  user      ended            -             0',
      '2026-09-21 14:18:35  2026-09-21 14:18:40  a       cw:AbCdEfGhIjKlMnOpQrStUv  first       audio  call  user      ended            -             0',
      '2026-09-21 14:14:55  2026-09-21 14:15:00  a                                  first       audio  call  user      rejected         -             0',
      '',
    ].join('\n'),
  )
  expect(await list('--session-id', 'cw:')).toBe('no calls\n')
  expect(await list('--session-id', 'fine')).not.toContain('call id')
  const { calls } = JSON.parse(await list('--session-id', 'first', '--json'))
  const longest = linesOf(calls, false, 80, 1)
  expect(Math.max(...longest.map(({ length }) => length))).toBeLessThanOrEqual(80)
  expect(longest[1]).toMatch(/ cw:\S{22} {2}first {2}/)
  // Of several targets, whose call it is matters most.
  expect(linesOf(calls, false, 60, 2)[1]).toMatch(/^\S+ \S+ {2}a +first +ended/)
})

test.each([
  [['--since', '2026'], '--since: must be a time: ISO 8601 in UTC like 2026-11-20T08:00:00Z or 2026-11-20'],
  [['--type', 'fax'], '--type: '],
  [['--status', 'nosuch'], '--status: must be some of initiated, ongoing,'],
  [['--status', 'rejected'], 'status=rejected is a status of finished calls'],
  [['--target', 'b'], 'there is no target b; there is: a'],
  [['--follow', '--format', 'csv'], '--follow: an event has not all columns of csv; use --format ndjson'],
  [['--follow', '--format', 'excel'], '--follow: an event has not all columns of excel; use --format ndjson'],
])('calls %j is refused', async (more, message) => {
  const { args } = await counted()
  const { code, stderr } = await callwatch([...args, ...more])
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
})

test('calls --follow continues with calls that match, until a signal', async () => {
  const { args, see, over } = await counted()
  const following = [...args, '--since', '2026-09-21', '--type', 'audio', '--follow']
  const { printed, stdout, ended, kill } = startHere(following)
  await printed(/first/)
  await see(completePoll(400, over('unlike', 'ended', 300, 'video'), over('new', 'rejected', 310)))
  await printed(/\bnew\b/)
  kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, stderr: '' })
  expect(idsIn(stdout())).toEqual(['last', 'first', 'new'])
})
