import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { AlertMatch } from '../../../src/alerts/match-keys.ts'
import { tableLines } from '../../../src/commands/command.ts'
import { isoTime } from '../../../src/clock/times.ts'
import { printAll, printProblems } from '../../../src/commands/status/print-status.ts'
import type { Failure } from '../../../src/views/receiver-status.ts'
import type { StoredStatus } from '../../../src/views/status.ts'
import { firingOf, RATIO } from '../../kit/alerts/sample-rules.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { firing, NOW } from '../../kit/metrics/hand-made-target.ts'
import { openIn } from '../../kit/store/place.ts'
import { AUTH, serve, shownTarget } from '../../kit/web/serve.ts'
import { callwatch, configFile, startHere } from '../../kit/commands/callwatch.ts'
import { listenOnBlockedPort } from '../../kit/commands/local-server.ts'
import { selfSigned } from '../../kit/commands/self-signed.ts'
import { storeInUse } from '../../kit/commands/store-in-use.ts'

type Place = {
  fires?: boolean | 'pending'
  targets?: string[]
  http?: string
  silenced?: boolean
  /** When Slack accepted the latest message about the alert (UNIX seconds). */
  told?: number
  earlier?: string[]
}

const stateOf = (fires: Place['fires']) => (fires === 'pending' ? fires : ('firing' as const))

/**
 * A store that `production` was polled into so many seconds ago, and the configuration that also has `staging`.
 *
 * @property earlier further targets, each polled a minute before the one before it
 */
async function polled(secondsAgo: number, place: Place = {}) {
  const { fires = false, targets = ['production', 'staging'], http = '{ port: 1 }', silenced = false, told } = place
  const { earlier = [] } = place
  const notify = "notify: { slack: { webhook_url: 'http://127.0.0.1:1/hook' } }"
  const { store, config } = storeInUse(targets, `http: ${http}\n${notify}`)
  const { see } = await openIn(store, { name: 'production', fingerprint: 'x' })
  const now = Date.now() / 1000
  const at = now - secondsAgo - CREATED
  const alerts = {
    changed: fires
      ? [{ ...firing({ ...RATIO, severity: 'critical' }), state: stateOf(fires), evaluatedAt: CREATED + at }]
      : [],
    ended: [],
    notifications: [],
  }
  const change = firingOf({ ...RATIO, severity: 'critical' }, 'production', CREATED + at)
  await see(completePoll(at, seen('open', 'ongoing')), {
    alerts,
    changes: fires ? [change] : [],
  })
  for (const [i, name] of earlier.entries()) {
    const other = await openIn(store, { name, fingerprint: 'x' })
    await other.see(completePoll(at - 60 * (i + 1), seen('open', 'ongoing')))
  }
  if (silenced)
    await store.addSilence({ match: { target: 'production' }, since: now - 9, until: now + 3600, reason: 'known' })
  if (told !== undefined) {
    const { target, key, alert, labels, severity, firingSince } = change
    const known = { target, key, alert, labels, severity, firingSince, at: told, thread: '1' }
    const data = JSON.stringify({ begun: [known], ended: [] })
    await store.writeNotified({ rows: [{ id: '1', receiver: 'slack', accepted: true, data }] })
  }
  return config
}

const NO_DAEMON = 'no daemon of this configuration answers at http://127.0.0.1:1/: is it running?'
const TIME = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g

/** Runs the command, and replaces all times in its output. */
async function status(config: string, ...options: string[]) {
  const { code, stdout, stderr } = await callwatch(['status', '--config', config, ...options])
  expect(stderr).toBe('')
  return { code, lines: stdout.replaceAll(TIME, 'TIME').trimEnd().split('\n') }
}

async function asJson(config: string): Promise<StoredStatus> {
  return JSON.parse((await callwatch(['status', '--json', '--config', config])).stdout)
}

/** How the section `http` of a configuration names a served daemon. */
const httpOf = ({ url }: { url: string }) =>
  `{ port: ${new URL(url).port}, auth: { username: ${AUTH.username}, password: '${AUTH.password}' } }`

describe('status', () => {
  test('says in a line that nothing is wrong, and succeeds', async () => {
    expect(await status(await polled(4, { targets: ['production'] }))).toEqual({
      code: 0,
      lines: [NO_DAEMON, 'production is polled; no alert fires; no receiver fails'],
    })
  })

  test('says how far an initial sync is, which is no failure', async () => {
    const listing = { pagesRead: 42, pages: 594, secondsLeft: 180 }
    const problem = 'the list is being read: 42 of 594 pages so far'
    const first = { ...shownTarget({ target: 'new', sync: {}, problem, fault: 'list' }), progress: () => listing }
    const served = await serve([first], { auth: AUTH })
    const { code, lines } = await status(await polled(4, { http: httpOf(served), targets: ['new'] }))
    expect({ code, lines }).toEqual({
      code: 1,
      lines: ['new: the initial sync has read 42 of 594 pages, and takes about 3m more'],
    })
  })

  test('--all also prints what is fine', async () => {
    const { lines } = await status(await polled(4, { targets: ['production'] }), '--all')
    const expected = [
      NO_DAEMON,
      'production is polled; no alert fires; no receiver fails',
      '',
      'target state lag in progress firing',
      expect.stringMatching(/^production up \ds 1 0$/),
      '',
      'receiver slack: no message waits',
      expect.stringMatching(/^store: .*callwatch\.db$/),
    ]
    expect(lines.map((line) => line.replaceAll(/ {2,}/g, ' '))).toEqual(expected)
  })

  test('--all has the targets by their state, then by their name', async () => {
    const { lines } = await status(await polled(600, { targets: ['zebra', 'production', 'apple'] }), '--all')
    const rows = lines.slice(lines.findIndex((line) => line.startsWith('target ')) + 1)
    expect(rows.slice(0, 3).map((line) => line.split(/ {2,}/).slice(0, 2).join(' '))).toEqual([
      'apple never polled',
      'zebra never polled',
      'production stale',
    ])
  })

  test('--all has the targets with most alerts first, and on a terminal of many that are alike three and their number', async () => {
    const stored = await asJson(await polled(4, { targets: ['production'] }))
    const target = (name: string, firing: number) => ({ ...stored.targets[0]!, target: name, firing })
    const names = Array.from({ length: 12 }, (_, i) => target(`shop-${i + 1}`, 0)).toReversed()
    const printed = (width: number) => {
      const lines: string[] = []
      const targets = [...names, target('a', 1), target('b', 2)]
      printAll({ ...stored, targets }, (line) => void lines.push(line), width)
      return lines.filter((line) => / {2}up {2}/.test(line)).map((line) => line.split(/ {2,}/)[0])
    }
    expect(printed(80)).toEqual(['b', 'a', 'shop-1', 'shop-2', 'shop-3', 'and 9 more (--wide)'])
    expect(printed(Infinity)).toEqual(['b', 'a', ...names.map((each) => each.target).toReversed()])
  })

  test('--all has the worst of the alerts of a rule first', async () => {
    const stored = await asJson(await polled(4, { fires: true }))
    const printed = (breach: 'above' | 'below') => {
      const lines: string[] = []
      const alerts = [0.2, 0.4].map((value) => ({ ...stored.alerts[0]!, breach, value }))
      printAll({ ...stored, alerts }, (line) => void lines.push(line), 80)
      return lines.flatMap((line) => /^HighFailureRate.*? (\d+%)/.exec(line)?.[1] ?? [])
    }
    expect([printed('above'), printed('below')]).toEqual([
      ['40%', '20%'],
      ['20%', '40%'],
    ])
  })

  test('begins with the incident, says which target is not polled, and fails', async () => {
    const { code, lines } = await status(await polled(600, { fires: true }))
    expect(code).toBe(1)
    const end = lines.indexOf('')
    expect(lines[0]).toMatch(
      /^critical: production: no successful poll since (?:[-\d]{10} )?\d\d:\d\d:\d\d UTC; then 42\.5% of 40 calls failed in 15 minutes, mostly rejected$/,
    )
    expect(lines.slice(1, end)).toEqual(expect.arrayContaining([expect.stringMatching(/^ {2}Since TIME/)]))
    expect((await status(await polled(4, { fires: true }))).lines[0]).not.toContain('; then')
    expect(lines.slice(end + 1)).toEqual([
      'production: no successful poll since TIME',
      'staging: never polled successfully',
      NO_DAEMON,
      'next: `callwatch alerts calls HighFailureRate --target production` lists its calls',
    ])
  })

  test('names what else fires on the targets of an incident only where that has no incident of its own', async () => {
    const stored = await asJson(await polled(4, { fires: true }))
    const [incident] = stored.incidents
    const printed = (group: AlertMatch) => {
      const lines: string[] = []
      const details = [{ about: 'others' as const, text: 'Also firing: StuckCalls' }]
      printProblems({ ...stored, incidents: [{ ...incident!, group, details }] }, (line) => void lines.push(line))
      return lines[1]
    }
    expect(printed({ alert: 'HighFailureRate' })).toBe('')
    expect(printed({ target: 'production' })).toBe('  Also firing: StuckCalls')
  })

  test('says once that a target is not polled: in the incident, if there is an alert about it', async () => {
    const stored = await asJson(await polled(600, { fires: true }))
    const problems = (signal: 'failure_ratio' | 'poll_age') => {
      const lines: string[] = []
      const alerts = stored.alerts.map((each) => ({ ...each, signal }))
      printProblems({ ...stored, incidents: [], alerts }, (line) => void lines.push(line))
      return lines.filter((line) => line.includes('successful')).map((line) => line.split(':')[0])
    }
    expect(problems('failure_ratio')).toEqual(['production', 'staging'])
    expect(problems('poll_age')).toEqual(['staging'])
    // The incident has only the most frequent reason.
    const [one, other] = stored.targets
    stored.targets = [{ ...one!, problem: '503' }, { ...one!, target: 'other', problem: 'no answer' }, other!]
    stored.alerts.push({ ...stored.alerts[0]!, target: 'other' })
    expect(problems('poll_age')).toEqual(['production', 'other', 'staging'])
  })

  test('says of a target without polls alone that its polls fail, not that its requests do', async () => {
    const { stdout } = await callwatch(['status', '--json', '--config', await polled(600, { fires: true })])
    const stored: StoredStatus = JSON.parse(stdout)
    const [incident] = stored.incidents
    const [alert] = stored.alerts
    const printed = (target: string, group: AlertMatch = incident!.group) => {
      const lines: string[] = []
      const polls = { ...alert!, target, alert: 'NoGoodPoll', key: 'NoGoodPoll', signal: 'poll_age' as const }
      const alerts = [polls, { ...alert!, signal: 'request_errors' as const }]
      printProblems({ ...stored, incidents: [{ ...incident!, group }], alerts }, (line) => void lines.push(line))
      return lines[0]
    }
    expect(printed('staging')).toMatch(/^critical: production: /)
    expect(printed('production')).not.toContain('critical')
    // Other alerts may be in that incident.
    expect(printed('production', { target: 'production' })).toContain('critical')
  })

  test('has the runbook of an incident and the page by their public address', async () => {
    const http = "{ port: 1, public_url: 'https://calls.example/watch/' }"
    const { lines } = await status(await polled(4, { fires: true, http }))
    expect(lines).toContain('  Runbook: https://calls.example/watch/runbooks/HighFailureRate')
    expect((await status(await polled(4, { fires: true }))).lines.join('\n')).not.toContain('Runbook')
  })

  test('says when each receiver accepted the latest message about an incident', async () => {
    const { lines } = await status(await polled(4, { fires: true, told: CREATED - 3600 }))
    expect(lines).toContain('  Last message: slack TIME')
    expect((await status(await polled(4, { fires: true }))).lines.join('\n')).not.toContain('Last message')
  })

  test('says that the service is slow although all is polled', async () => {
    const served = await serve([shownTarget({ target: 'production', slowAnswers: 4 })], { auth: AUTH })
    expect(await status(await polled(4, { http: httpOf(served), targets: ['production'] }))).toEqual({
      code: 0,
      lines: [
        'production: the service is slow: 4s an answer',
        'production is polled; no alert fires; no receiver fails',
      ],
    })
  })

  test('has the reasons from the daemon: of targets, and of receivers that refuse', async () => {
    const waiting = { pending: 1, oldest: NOW - 120 }
    const failure = { ...waiting, since: 1_800_000_000, problem: 'Slack answered 404: no_service', next: 1_800_000_300 }
    const targets = [shownTarget({ target: 'production', problem: 'the service answered 503' })]
    const served = await serve(targets, { auth: AUTH, receivers: () => [{ name: 'slack', failure }] })
    const http = httpOf(served)
    const { lines } = await status(await polled(600, { http, targets: ['production'] }))
    expect(lines).toEqual([
      'production: no successful poll since TIME: the service answered 503',
      'receiver slack: nothing delivered since TIME: Slack answered 404: no_service; 1 message waiting, the oldest from 2m ago; next attempt at TIME',
      `next: \`callwatch check --probe\` says what the service answers, or open ${served.url.replace(/\/?$/, '/')}`,
    ])
    const json = await callwatch(['status', '--json', '--config', await polled(600, { http, targets: ['production'] })])
    expect(JSON.parse(json.stdout)).toMatchObject({
      daemon: { url: served.url.replace(/\/?$/, '/'), answers: true },
      targets: [{ target: 'production', problem: 'the service answered 503' }],
      receivers: [
        {
          name: 'slack',
          problem: failure.problem,
          failing_since: '2027-01-15T08:00:00.000Z',
          next_attempt: '2027-01-15T08:05:00.000Z',
        },
      ],
    })
    // The daemon of another configuration.
    const others = await status(await polled(600, { http, targets: ['shop'] }))
    expect(others.lines).toEqual([
      'shop: never polled successfully',
      expect.stringMatching(/^no daemon of this configuration answers at /),
      'next: `callwatch check --probe` says what the service answers',
    ])
  })

  test('says of a receiver that accepts some messages which fail and why, and nothing of one to which nothing waits', async () => {
    const linesOf = async (failure?: Failure) => {
      const served = await serve([shownTarget()], { auth: AUTH, receivers: () => [{ name: 'slack', failure }] })
      const { lines } = await status(await polled(4, { fires: true, http: httpOf(served), targets: ['production'] }))
      return lines.filter((line) => line.startsWith('receiver'))
    }
    expect(await linesOf()).toEqual([])
    const failure = { problem: 'Slack answered 404', next: 1_800_000_000, pending: 2, oldest: NOW - 120 }
    expect(await linesOf(failure)).toEqual([
      'receiver slack: 2 messages waiting, the oldest from 2m ago; some refused: Slack answered 404; offered again at TIME',
    ])
  })

  test('names three of the targets of which the same is to be said', async () => {
    const { lines } = await status(await polled(4, { targets: ['production', 'a', 'b', 'c', 'd', 'e'] }))
    expect(lines[0]).toBe('5 of 6 targets, such as a, b, c: never polled successfully')
  })

  test('has one line for an outage that targets met at different times', async () => {
    const earlier = ['a', 'b', 'c']
    const { lines } = await status(await polled(600, { targets: ['production', ...earlier], earlier }))
    expect(lines[0]).toBe('4 of 4 targets, such as production, a, b: no successful poll since TIME (the earliest)')
    const ofTwo = await polled(600, { targets: ['a', 'production'], earlier: ['a'] })
    const { stdout } = await callwatch(['status', '--config', ofTwo])
    const [, time] = /^a, production: no successful poll since (.*) UTC \(the earliest\)$/m.exec(stdout)!
    expect(Date.parse(`${time}Z`) / 1000 + 660).toBeCloseTo(Date.now() / 1000, -2)
  })

  test('has one line for the initial syncs of many targets, with the numbers of the first', async () => {
    const first = (target: string, pagesRead: number) => ({
      ...shownTarget({ target, sync: {}, problem: 'the list is being read', fault: 'list' }),
      progress: () => ({ pagesRead, pages: 594, secondsLeft: 60 * pagesRead }),
    })
    const served = await serve([first('a', 42), first('b', 61)], { auth: AUTH })
    const { lines } = await status(await polled(4, { http: httpOf(served), targets: ['a', 'b'] }))
    expect(lines).toEqual([
      '2 of 2 targets, such as a: the initial sync has read 42 of 594 pages, and takes about 42m more',
    ])
  })

  test('is wrapped between words in a narrow terminal but for a command, and lines of an incident stay indented', async () => {
    const config = await polled(600, { fires: true })
    const printed = async (columns: number | undefined, ...options: string[]) =>
      (await callwatch(['status', '--config', config, ...options], { columns })).stdout.trimEnd()
    const narrow = await printed(60)
    expect(narrow).toMatch(
      /^critical: production: no successful poll since .*\n {2}UTC; then 42\.5% of 40 calls failed in 15 minutes, mostly\n {2}rejected\n {2}Since/,
    )
    expect(narrow).toMatch(/^ {2}Rule: HighFailureRate, .*\n {4}\S/m)
    const isCommand = (line: string) =>
      line.startsWith('  `callwatch alerts calls HighFailureRate --target production`')
    const lines = narrow.split('\n')
    expect(lines.filter(isCommand)).toHaveLength(1)
    expect(Math.max(...lines.filter((line) => !isCommand(line)).map(({ length }) => length))).toBeLessThanOrEqual(60)
    expect(await printed(60, '--wide')).toMatch(/^critical: .{60}/)
  })

  test('keeps what is silenced apart from what waits', async () => {
    const config = await polled(4, { fires: true, silenced: true, targets: ['production'] })
    const { lines } = await status(config)
    expect(lines.slice(lines.indexOf('') + 1)).toEqual([
      NO_DAEMON,
      'suppressed now: HighFailureRate: silence 1 until TIME: known',
      expect.stringMatching(/^next: /),
    ])
    const { stdout } = await callwatch(['status', '--json', '--config', config])
    expect(JSON.parse(stdout)).toMatchObject({
      alerts: [{ suppressed: [expect.stringMatching(/^silence 1 until \d{4}.*: known$/)] }],
      receivers: [{ name: 'slack', pending: 0 }],
    })
  })

  test('says which rules have alerts that do not fire yet', async () => {
    const { code, lines } = await status(await polled(4, { fires: 'pending', targets: ['production'] }))
    expect(code).toBe(0)
    expect(lines).toContainEqual(
      expect.stringMatching(/^pending: HighFailureRate fires from \d\d:\d\d:\d\d UTC on if it lasts$/),
    )
    const config = await polled(4, { fires: 'pending' })
    expect((await status(config)).lines).toContainEqual(
      expect.stringMatching(/^pending: HighFailureRate on 1 target fires from \d\d:\d\d:\d\d UTC on if it lasts$/),
    )
    // The rule has lasted for all of its two minutes: it fires with the next poll.
    const stored = await asJson(config)
    const { now, pending } = stored
    expect(pending).toEqual([{ alert: 'HighFailureRate', targets: 1, fires_at: now }])
    const later = pending.map((rule) => ({ ...rule, fires_at: isoTime(Date.parse(now) / 1000 + 172_800) }))
    const printed: string[] = []
    printProblems({ ...stored, pending: later }, (line) => void printed.push(line.replace(TIME, 'TIME')))
    expect(printed).toContain('pending: HighFailureRate on 1 target fires from TIME on if it lasts')
  })

  test('as JSON has the fields of the API', async () => {
    const { code, stdout } = await callwatch(['status', '--json', '--config', await polled(600, { fires: true })])
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      targets: [
        { target: 'production', state: 'stale', in_progress: 1, firing: 1 },
        { target: 'staging', state: 'never polled', last_success: null, lag_seconds: null },
      ],
      alerts: [{ target: 'production', alert: 'HighFailureRate', severity: 'critical', value: 0.425 }],
      receivers: [{ name: 'slack', pending: 0 }],
    })
  })

  test('is printed again until a signal ends it', async () => {
    const { printed, ended, kill } = startHere(['status', '--watch', '--config', await polled(4)])
    await printed(/(^staging: never[^]*){2}/m)
    kill('SIGINT')
    expect(await ended).toMatchObject({ code: 1, stderr: '' })
  })
})

describe('status --health', () => {
  const env = (url: string) => ({
    CALLWATCH_HTTP_PORT: new URL(url).port,
    // A proxy on which nothing listens.
    HTTP_PROXY: 'http://127.0.0.1:1',
    HTTPS_PROXY: 'http://127.0.0.1:1',
    NODE_USE_ENV_PROXY: '1',
  })

  test.each(['127.0.0.1', '0.0.0.0', '::', '::1'])('reaches a daemon on %s without a proxy', async (host) => {
    const { url } = await serve([shownTarget()], { host })
    const variables = { ...env(url), CALLWATCH_HTTP_HOST: host }
    expect(await callwatch(['status', '--health'], { env: variables })).toMatchObject({ code: 0, stderr: '' })
  })

  test('reaches a daemon on a port that browsers block', async () => {
    const port = await listenOnBlockedPort(createServer((_request, response) => response.end('{}')))
    const { code, stdout } = await callwatch(['status', '--health'], { env: env(`http://127.0.0.1:${port}`) })
    expect({ code, stdout }).toEqual({ code: 0, stdout: `http://127.0.0.1:${port}/healthz answers 200\n` })
  })

  test('needs no password, and no configuration without mistakes', async () => {
    const { url } = await serve([shownTarget()], { auth: AUTH })
    const http = `{ port: \${PORT}, auth: { username: a, password: b } }`
    const args = ['status', '--health', '--config', configFile(`http: ${http}\nalert: {}`)]
    const { code, stdout } = await callwatch(args, { env: { PORT: new URL(url).port } })
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${url}/healthz answers 200\n`,
    })
    const broken = ['status', '--health', '--config', configFile('http: { port: 1')]
    expect(await callwatch(broken, { env: env(url) })).toMatchObject({ code: 0 })
  })

  test('uses HTTPS with http.tls, whoever has signed the certificate', async () => {
    const { url } = await serve([shownTarget()], { tls: selfSigned('callwatch.example') })
    const http = `{ port: ${new URL(url).port}, tls: { cert_file: gone.crt, key_file: gone.key } }`
    const args = ['status', '--health', '--config', configFile(`http: ${http}`)]
    expect(await callwatch(args)).toMatchObject({ code: 0 })
  })

  test('fails if nothing answers', async () => {
    const { url, close } = await serve([shownTarget()])
    await close()
    const { code, stdout } = await callwatch(['status', '--health'], { env: env(url) })
    expect({ code, stdout }).toEqual({ code: 1, stdout: `${url}/healthz does not answer\n` })
  })
})

test('the columns of a table with names of wide characters are aligned', () => {
  const rows = ['東京', '東京-staging-cluster', 'ok 🟠', 'ü', 'e\u0301', '👩‍👩‍👧', 'ｶﾅ', '서울'].map((name) => [name, '12'])
  expect(tableLines(['name', 'n'], rows, 1, { width: 20, givesWay: [] })).toEqual([
    'name               n',
    '東京              12',
    '東京-sta…cluster  12',
    'ok 🟠             12',
    'ü                 12',
    'e\u0301                 12',
    '👩‍👩‍👧                12',
    'ｶﾅ                12',
    '서울              12',
    expect.stringContaining('the whole'),
  ])
})

test('a table that is wider than the terminal loses its least important columns', () => {
  const [header, rows] = [['name', 'what', 'n'], [['a', 'something', '12']]]
  const within = (width: number) => tableLines(header, rows, 2, { width, givesWay: ['what', 'n'] })
  expect(within(20)).toEqual(['name  what        n', 'a     something  12'])
  expect(within(19)).toEqual(['name  what        n', 'a     something  12'])
  expect(within(18)).toEqual(['name   n', 'a     12', '--wide also prints: what'])
  expect(within(7)).toEqual(['name', 'a', '--wide also prints: what, n'])
  expect(within(1)).toEqual(within(7))
})
