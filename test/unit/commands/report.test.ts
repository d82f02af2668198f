import { expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../../src/clock/clock.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { A, filled, openIn } from '../../kit/store/place.ts'
import { callwatch, configFile } from '../../kit/commands/callwatch.ts'
import { storeInUse } from '../../kit/commands/store-in-use.ts'

/** 2026-09-21 14:13:20 UTC, so that 10 hours later it is another day in Tokyo than in Berlin. */
const AT = (hours: number) => CREATED + hours * 3600

/** Runs the command on a store in which two targets have some calls, which a daemon still holds open. */
const report = (...args: string[]) => reportIn(undefined, ...args)

/** The same in a terminal of this width. */
async function reportIn(columns: number | undefined, ...args: string[]) {
  const { store, config } = storeInUse()
  for (const name of ['production', 'staging']) {
    const { see } = await openIn(store, { name, fingerprint: name })
    const ended = (id: string, hours: number) =>
      seen(id, 'ended', {
        initiatedAt: AT(hours) - 65,
        startedAt: AT(hours) - 60,
        endedAt: AT(hours),
        type: 'video',
        totalParticipants: 2,
        callMinutes: { audio: 0, video: 1, total: undefined },
        participantMinutes: { audio: 0, video: 2, total: undefined },
        invited: { joined: 2, absent: 1 },
      })
    await see(completePoll(3600, ended('a', 0.5)))
    if (name === 'production') {
      const others = [3, 4, 5].map((i) => seen(`r${i}`, 'rejected', { endedAt: AT(i) }))
      await see(completePoll(6 * 3600, ended('a', 0.5), ended('b', 2), ...others), {
        gap: { from: AT(1), to: AT(6) },
      })
    }
  }
  return callwatch(['report', '--config', config, ...args], { columns })
}

const PERIOD = ['--since', '2026-09-21T14:13:20Z', '--until', '2026-09-21T20:13:20Z']

test('report prints a table, and what it does not cover', async () => {
  const { code, stdout, stderr } = await report(...PERIOD, '--by', 'target,type')
  expect(code).toBe(0)
  expect(stdout).toBe(
    [
      'Calls from 2026-09-21 14:13 to 2026-09-21 20:13 (UTC)',
      '6 calls, 6 participant minutes, 6 user minutes, 50% failed',
      'ended 3, unanswered 0, rejected 3, canceled 0',
      '3 of 9 invited people did not join, 33.3%, not known of 3 calls',
      'Not covered: 5h (no successful poll, so that calls were noticed late: production)',
      'Not compared with 2026-09-14 14:13 to 2026-09-14 20:13: less than a day is known of both',
      'target      type   calls  ended  unanswered  rejected  canceled  audio min  video min  participant audio min  participant video min  participant min  user min  failed  invited joined  invited absent  invited unknown  not joined  mean  p50  p95  late  not covered',
      'production  audio      3      0           0         3         0          0          0                      0                      0                0         0       -               0               0                3           -     -    -    -     3           5h',
      'production  video      2      2           0         0         0          0          2                      0                      4                4         4       -               4               2                0       33.3%    1m   1m   1m     2           5h',
      'staging     video      1      1           0         0         0          0          1                      0                      2                2         2       -               2               1                0           -    1m   1m   1m     1           0s',
      'total                  6      3           0         3         0          0          3                      0                      6                6         6     50%               6               3                3       33.3%    1m   1m   1m     6           5h',
      '',
    ].join('\n'),
  )
  expect(stderr).toBe('')
})

test('report by one key has the row with most user minutes first, in the table as in CSV', async () => {
  const rowsOf = async (...format: string[]) =>
    (await report(...PERIOD, '--by', 'type', ...format)).stdout.match(/(?<=^(?:part,)?)(?:audio|video)/gm)
  expect(await rowsOf()).toEqual(['video', 'audio'])
  expect(await rowsOf('--format', 'csv')).toEqual(['video', 'audio'])
})

test('report fits a terminal of 80 to 120 columns, and prints all of the table with --wide', async () => {
  const header = async (columns: number, ...args: string[]) =>
    (await reportIn(columns, ...PERIOD, '--by', 'day,target,type', ...args)).stdout.match(/^day .*$/m)?.[0]
  const keys = 'day         target      type   '
  expect(await header(120)).toBe(
    `${keys}calls  ended  unanswered  rejected  canceled  participant min  user min  failed`,
  )
  expect(await header(100)).toBe(`${keys}calls  ended  unanswered  rejected  participant min  user min  failed`)
  expect(await header(80)).toBe(`${keys}calls  ended  participant min  user min  failed`)
  const { stdout } = await reportIn(80, ...PERIOD, '--by', 'day,target,type')
  expect(stdout.replaceAll(/\n\s+/g, ' ')).toMatch(/\n--wide also prints: unanswered, .*, late, not covered\n$/)
  expect(await header(80, '--wide')).toContain('participant audio min')
})

test('report prints JSON with the days of a time zone', async () => {
  const { stdout, stderr } = await report(...PERIOD, '--by', 'day', '--zone', 'Asia/Tokyo', '--json')
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toMatchObject({
    since: '2026-09-21T14:13:20.000Z',
    until: '2026-09-21T20:13:20.000Z',
    zone: 'Asia/Tokyo',
    // What is not configured any more is not expected to be seen.
    coverage: { blind_seconds: 5 * 3600, blind: [{ target: 'production', kind: 'ended' }] },
    rows: [
      { day: '2026-09-21', calls: { ended: 2, rejected: 0 }, minutes: { audio: 0, video: 2 } },
      { day: '2026-09-22', calls: { ended: 1, rejected: 3 }, failure_ratio: null, noticed_late: 4 },
    ],
  })
})

test('report --by app has a row for each app, also of several targets, however it is configured', async () => {
  const { store, path } = storeInUse()
  for (const name of ['production', 'staging', 'other']) await filled(store, { ...A, name }, { a: 1 })
  const config = configFile(`
targets:
  - { name: production, app_id: Shop, region: eu, api_key: key }
  - { name: staging, base_url: 'https://shop.call-eu.cometchat.io/v3', api_key: key }
store: { path: ${path} }
`)
  const { stdout } = await callwatch(['report', '--config', config, '--by', 'app', '--format', 'csv'])
  expect(stdout.match(/^part,\w+,\d/gm)).toEqual(['part,other,1', 'part,shop,2'])
})

test('report --by none has only the total, also where nothing finished', async () => {
  const { stdout } = await report('--since', '2026-09-01', '--until', '2026-09-02', '--by', 'none', '--format', 'csv')
  expect(stdout.split('\n').slice(1)).toEqual(['total,0,0,0,0,0,0,0,0,0,0,0,0,0,,0,0,0,,,,,0,86400', ''])
})

test('report --format excel begins with a byte order mark, and has semicolons and decimal commas', async () => {
  const { stdout } = await report(...PERIOD, '--by', 'target', '--format', 'excel')
  const [names, row] = stdout.split('\n')
  expect(names).toMatch(/^\uFEFFrow;target;calls;ended;.*;blind_seconds$/)
  expect(row).toMatch(/^part;production;\d+;[^.]*;18000$/)
})

test('report --month has the month in its zone, and is that of its first and last day', async () => {
  const zone = ['--zone', 'Europe/Berlin', '--json']
  const [month, dates] = await Promise.all([
    report('--month', '2026-09', ...zone),
    report('--since', '2026-09-01', '--until', '2026-10-01', ...zone),
  ])
  expect(month.stdout).toBe(dates.stdout)
  const { since, until } = JSON.parse(month.stdout)
  expect([since, until]).toEqual(['2026-08-31T22:00:00.000Z', '2026-09-30T22:00:00.000Z'])
})

test('report of all that the store keeps begins with its oldest call, and says that nothing is polled any more', async () => {
  const { stdout } = await report('--target', 'production', '--by', 'day', '--json')
  const { since, rows, coverage } = JSON.parse(stdout)
  expect([since, rows[0].day]).toEqual(['2026-09-21T14:43:20.000Z', '2026-09-21'])
  expect(coverage.blind.map(({ kind }: { kind: string }) => kind)).toEqual(['ended', 'now'])
})

test('report says in every format that a period begins before what is kept', async () => {
  const { store, config } = storeInUse()
  await filled(store, { ...A, name: 'production' }, { old: 1, older: 0.5, young: 1500 })
  await store.deleteExpired(CREATED + 600)
  const command = ['report', '--config', config, '--since', '2026-09-21T14:00Z', '--until']
  const reported = (...format: string[]) => callwatch([...command, '2026-09-21T14:40Z', ...format])
  const [table, csv, json] = [await reported(), await reported('--format', 'csv'), await reported('--json')]
  const sentence =
    'Not covered: 13m 22s (before the set-up of production, until 2026-09-21 14:13; expired (store.history): production, until 2026-09-21 14:13)\n'
  expect([table.stdout.includes(sentence), csv.stderr]).toEqual([true, sentence])
  expect(csv.stdout.split('\n')[0]).toMatch(/,noticed_late,blind_seconds$/)
  expect(csv.stdout.split('\n').slice(1)).toEqual([
    expect.stringMatching(/^part.*,802$/),
    expect.stringMatching(/^total.*,802$/),
    '',
  ])
  expect(JSON.parse(json.stdout).coverage).toMatchObject({
    blind_seconds: 802,
    blind: [
      { kind: 'before' },
      { kind: 'expired', since: '2026-09-21T14:13:20.000Z', until: '2026-09-21T14:13:22.000Z' },
    ],
  })
})

test.each([-3, 0, 3])('report and calls of the last hour are by a service whose clock is %i h ahead', async (hours) => {
  const { store, config } = storeInUse()
  const { see } = await openIn(store, { name: 'production', fingerprint: 'x' })
  const at = (minutes: number) => AT(hours + minutes / 60)
  const ended = (id: string, minutes: number) => seen(id, 'ended', { endedAt: at(minutes) })
  for (const minutes of [1, 115, 120]) {
    const calls = minutes === 1 ? [] : [ended('early', 50), ended('late', 100)]
    await see({ ...completePoll((hours * 60 + minutes) * 60, ...calls), clockSkew: hours * 3600 })
  }
  // No daemon has run for the last four minutes.
  const wall = vi.spyOn(systemClock, 'wall').mockReturnValue(AT(2) + 240)
  onTestFinished(() => wall.mockRestore())
  const reported = async (...args: string[]) => {
    const { stdout, stderr } = await callwatch(['report', '--config', config, '--json', ...args])
    const { since, until, rows, coverage } = JSON.parse(stdout)
    return { since, until, ended: rows[0].calls.ended, coverage, stderr }
  }
  const isoAt = (minutes: number) => new Date(at(minutes) * 1000).toISOString()
  const covered = { coverage: { blind_seconds: 0, blind: [] }, stderr: '' }
  expect(await reported('--since', '1h')).toEqual({ since: isoAt(64), until: isoAt(124), ended: 1, ...covered })
  expect(await reported('--since', '80m', '--until', '70m')).toMatchObject({
    since: isoAt(44),
    until: isoAt(54),
    ended: 1,
  })
  expect((await reported()).until).toBe(isoAt(124))
  const listed = async (...args: string[]) => {
    const { stdout } = await callwatch(['calls', '--config', config, '--format', 'ndjson', ...args])
    return [...stdout.matchAll(/"session_id":"(early|late)"/g)].map(([, id]) => id).join(' ')
  }
  expect([await listed('--since', '1h'), await listed('--since', '2h', '--until', '1h')]).toEqual(['late', 'early'])
})

test.each([
  [['--since', 'soon'], '--since soon: expected a date such as 2026-11-01'],
  [['--since', '2026'], '--since 2026: expected a date such as 2026-11-01'],
  [['--until', '20261101'], '--until 20261101: expected a date such as 2026-11-01'],
  [['--since', '2026-13-01'], '--since 2026-13-01: expected a date'],
  [['--until', 'x'], '--until x: expected a date'],
  [['--since', '2026-09-02', '--until', '2026-09-02'], '--since must be before --until'],
  [['--by', 'hour'], '--by hour: expected some of day, app, target, type, mode, receiver_type, or none'],
  [['--month', '2026-13'], '--month 2026-13: expected a month such as 2026-11'],
  [['--month', '2026-11', '--since', '1d'], "option '--month <month>' cannot be used with option '--since <time>'"],
  [['--zone', 'Mars/Base'], '--zone Mars/Base: expected a time zone such as Europe/Berlin, or UTC'],
  [['--target', 'nope'], 'there is no target nope; there is: production, staging'],
  [['--since', '2026-11-20T08:00:00[Asia/Tokyo]'], 'expected a date'],
  [['--until', '999999999999'], 'expected a date'],
  [['--format', 'xml'], "argument 'xml' is invalid. Allowed choices are table, csv, excel."],
  [['--json', '--format', 'csv'], "option '--json' cannot be used with option '--format <format>'"],
])('report %j is refused with a sentence', async (args, sentence) => {
  const { code, stderr } = await report(...args)
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
})
