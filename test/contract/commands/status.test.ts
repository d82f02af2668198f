import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { AlertMatch } from '../../../src/alerts/match-keys.ts'
import { tableLines } from '../../../src/commands/command.ts'
import { isoTime } from '../../../src/clock/times.ts'
import { printAll, printProblems } from '../../../src/commands/status/print-status.ts'
import type { TargetStatus } from '../../../src/pipeline/target.ts'
import type { Failure } from '../../../src/views/state/receiver-status.ts'
import { state as stateSchema, type State } from '../../../src/views/state/state.ts'
import { RATIO } from '../../kit/alerts/sample-rules.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { firing, NOW, openCall, POLLED } from '../../kit/metrics/hand-made-target.ts'
import { openIn } from '../../kit/store/place.ts'
import { AUTH, basic, serve, shownTarget, type ServeOptions } from '../../kit/web/serve.ts'
import { callwatch, configFile } from '../../kit/commands/callwatch.ts'
import { listenOn, listenOnBlockedPort } from '../../kit/commands/local-server.ts'
import { selfSigned } from '../../kit/commands/self-signed.ts'
import { storeInUse } from '../../kit/commands/store-in-use.ts'

const TIME = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g
const WORSE = { ...RATIO, severity: 'critical' } as const
const FIRES = { alerts: [firing(WORSE)], rules: [WORSE], sync: POLLED }
const STALE = { pollAge: 600, sync: { ...POLLED, lastSuccessHostTime: NOW - 600 } }

/** A daemon that serves targets, and its configuration, which may name others. */
async function daemonOf(targets: TargetStatus[], options: ServeOptions = {}, names = targets.map(({ name }) => name)) {
  const served = await serve(targets, { auth: AUTH, ...options })
  const login = `auth: { username: ${AUTH.username}, password: '${AUTH.password}' }`
  const http = `http: { port: ${new URL(served.url).port}, ${login} }`
  return { ...served, config: storeInUse(names, http).config, page: served.url.replace(/\/?$/, '/') }
}

const configOf = async (...args: Parameters<typeof daemonOf>) => (await daemonOf(...args)).config

/** Runs the command, and replaces all times in its output. */
async function status(config: string, ...options: string[]) {
  const { code, stdout, stderr } = await callwatch(['status', '--config', config, ...options])
  expect(stderr).toBe('')
  return { code, lines: stdout.replaceAll(TIME, 'TIME').trimEnd().split('\n') }
}

const asJson = async (...args: Parameters<typeof daemonOf>): Promise<State> =>
  JSON.parse((await callwatch(['status', '--json', '--config', await configOf(...args)])).stdout)

/** The lines of what is wrong in a state. */
function problemsOf(state: State) {
  const lines: string[] = []
  printProblems(state, 'http://page/', (line) => void lines.push(line))
  return lines
}

/** The lines of the tables. */
function tablesOf(state: State, width: number) {
  const lines: string[] = []
  printAll(state, (line) => void lines.push(line), width)
  return lines
}

describe('status', () => {
  test('says in a line that nothing is wrong, and succeeds', async () => {
    expect(await status(await configOf([shownTarget()]))).toEqual({
      code: 0,
      lines: ['production is polled; no alert fires; no receiver fails'],
    })
  })

  test('succeeds although the last poll failed, and says why', async () => {
    expect(await status(await configOf([shownTarget({ problem: 'the service answered 503' })]))).toEqual({
      code: 0,
      lines: ['production: the service answered 503', expect.stringMatching(/^next: /)],
    })
  })

  test('says without a daemon when the store was last written, and fails', async () => {
    const { store, config } = storeInUse(['production', 'staging'], 'http: { port: 1 }')
    const { see } = await openIn(store, { name: 'production', fingerprint: 'x' })
    const no = 'no daemon of this configuration answers at http://127.0.0.1:1/: is it running?'
    const next = 'next: `callwatch alerts` lists what fired until then'
    expect(await status(config)).toEqual({
      code: 1,
      lines: [no, expect.stringMatching(/callwatch\.db was never written$/), next],
    })
    const writtenAt = async () => {
      const { stdout } = await callwatch(['status', '--config', config])
      return /last written at (.*) UTC$/m.exec(stdout)![1]
    }
    const textOf = (at: number) => isoTime(at).slice(0, 19).replace('T', ' ')
    await see(completePoll(100, seen('open', 'ongoing')))
    expect(await writtenAt()).toBe(textOf(CREATED + 100))
    // An evaluation is written also where no poll succeeds.
    await see(completePoll(101), { evaluated: { kind: 'tick', at: CREATED + 160, pollAge: 60 } })
    expect(await writtenAt()).toBe(textOf(CREATED + 160))
    const json = await callwatch(['status', '--json', '--config', config])
    expect(json).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(no) })
  })

  test('says of a daemon that does not answer in time that it is slow, and not that it does not run', async () => {
    const silent = createServer()
    const { config } = storeInUse(['production'], `http: { port: ${await listenOn(silent)} }`)
    const { code, lines } = await status(config)
    expect([code, lines[0]]).toEqual([1, expect.stringMatching(/^the daemon at .* did not answer within 10s: it is/)])
  }, 30_000)

  test('fails for a target that no daemon polls', async () => {
    const { code, lines } = await status(await configOf([shownTarget()], {}, ['production', 'shop']))
    expect([code, lines[0]]).toEqual([1, 'no daemon polls shop'])
  })

  test('knows the daemon of another configuration by its targets', async () => {
    const { code, lines } = await status(await configOf([shownTarget()], {}, ['shop']))
    expect([code, lines[0]]).toEqual([1, expect.stringMatching(/^no daemon of this configuration answers at /)])
  })

  test('says how far an initial sync is, which is no failure', async () => {
    const listing = { pagesRead: 42, pages: 594, secondsLeft: 180 }
    const problem = 'the list is being read: 42 of 594 pages so far'
    const first = { ...shownTarget({ target: 'new', sync: {}, problem, fault: 'list' }), progress: () => listing }
    expect(await status(await configOf([first]))).toEqual({
      code: 1,
      lines: ['new: the initial sync has read 42 of 594 pages, and takes about 3m more'],
    })
  })

  test('--all also prints what is fine', async () => {
    const { lines } = await status(await configOf([shownTarget({ calls: [openCall('a')] })]), '--all')
    expect(lines.map((line) => line.replaceAll(/ {2,}/g, ' '))).toEqual([
      'production is polled; no alert fires; no receiver fails',
      '',
      'target state lag in progress firing',
      'production up 5s 1 0',
      '',
      'receiver slack: no message waits',
      'receiver pager: no message waits',
    ])
  })

  test('--all has the targets by their state, then by their name', async () => {
    const never = (target: string) => shownTarget({ target, sync: {}, problem: 'the key is wrong' })
    const { lines } = await status(await configOf([never('zebra'), shownTarget(STALE), never('apple')]), '--all')
    const rows = lines.slice(lines.findIndex((line) => line.startsWith('target ')) + 1)
    expect(rows.slice(0, 3).map((line) => line.split(/ {2,}/).slice(0, 2).join(' '))).toEqual([
      'apple never polled',
      'zebra never polled',
      'production stale',
    ])
  })

  test('--all has the targets with most alerts first, and on a terminal of many that are alike three and their number', async () => {
    const state = await asJson([shownTarget(FIRES)])
    const target = (name: string) => ({ ...state.targets[0]!, name })
    const shops = Array.from({ length: 12 }, (_, i) => target(`shop-${i + 1}`)).toReversed()
    const on = (name: string) => ({ ...state.alerts[0]!, target: name })
    const printed = (width: number) => {
      const targets = [...shops, target('a'), target('b')]
      const lines = tablesOf({ ...state, targets, alerts: [on('a'), on('b'), on('b')] }, width)
      return lines.filter((line) => / {2}up {2}/.test(line)).map((line) => line.split(/ {2,}/)[0])
    }
    expect(printed(80)).toEqual(['b', 'a', 'shop-1', 'shop-2', 'shop-3', 'and 9 more (--wide)'])
    expect(printed(Infinity)).toEqual(['b', 'a', ...shops.map(({ name }) => name).toReversed()])
  })

  test('--all has the worst of the alerts of a rule first', async () => {
    const state = await asJson([shownTarget(FIRES)])
    const printed = (breach: 'above' | 'below') => {
      const alerts = [0.2, 0.4].map((value) => ({ ...state.alerts[0]!, breach, value }))
      return tablesOf({ ...state, alerts }, 80).flatMap((line) => /^HighFailureRate.*? (\d+%)/.exec(line)?.[1] ?? [])
    }
    expect([printed('above'), printed('below')]).toEqual([
      ['40%', '20%'],
      ['20%', '40%'],
    ])
  })

  test('begins with the incident, says which target is not polled, and fails', async () => {
    const staging = shownTarget({ target: 'staging', sync: {}, problem: 'the key is wrong' })
    const options = { freshFrom: () => NOW + 1 }
    const { code, lines } = await status(await configOf([shownTarget({ ...FIRES, ...STALE }), staging], options))
    expect(code).toBe(1)
    const end = lines.indexOf('')
    expect(lines[0]).toMatch(
      /^critical: production: no successful poll since (?:[-\d]{10} )?\d\d:\d\d:\d\d UTC; before that, 42\.5% of 40 calls failed in 15 minutes, mostly rejected$/,
    )
    expect(lines.slice(1, end)).toEqual(expect.arrayContaining([expect.stringMatching(/^ {2}Since TIME/)]))
    expect((await status(await configOf([shownTarget(FIRES)]))).lines[0]).not.toContain('; before that')
    expect(lines.slice(end + 1)).toEqual([
      'production: no successful poll since TIME',
      'staging: never polled successfully: the key is wrong',
      // What fired before its polls failed is not the next thing to do.
      expect.stringMatching(/^next: `callwatch check --probe` says what the service answers, or open /),
    ])
    const polled = await status(await configOf([shownTarget(FIRES), staging]))
    expect(polled.lines.at(-1)).toMatch(
      /^next: `callwatch alerts calls HighFailureRate --target production` lists its calls, or open /,
    )
  })

  test('names what else fires on the targets of an incident only where that has no incident of its own', async () => {
    const state = await asJson([shownTarget(FIRES)])
    const [incident] = state.incidents
    const printed = (group: AlertMatch) => {
      const details = [{ about: 'others' as const, text: 'Also firing: StuckCalls' }]
      return problemsOf({ ...state, incidents: [{ ...incident!, group, details }] })[1]
    }
    expect(printed({ alert: 'HighFailureRate' })).toBe('')
    expect(printed({ target: 'production' })).toBe('  Also firing: StuckCalls')
  })

  test('says once that a target is not polled: in the incident, if there is an alert about it', async () => {
    const never = shownTarget({ target: 'staging', sync: {}, problem: 'the key is wrong' })
    const state = await asJson([shownTarget({ ...FIRES, ...STALE }), never])
    const problems = (signal: 'failure_ratio' | 'poll_age') => {
      const alerts = state.alerts.map((each) => ({ ...each, signal }))
      const lines = problemsOf({ ...state, incidents: [], alerts })
      return lines.filter((line) => line.includes('successful')).map((line) => line.split(':')[0])
    }
    expect(problems('failure_ratio')).toEqual(['production', 'staging'])
    expect(problems('poll_age')).toEqual(['staging'])
    // The incident has only the most frequent reason.
    const [one, other] = state.targets
    state.targets = [{ ...one!, problem: '503' }, { ...one!, name: 'other', problem: 'no answer' }, other!]
    state.alerts.push({ ...state.alerts[0]!, target: 'other' })
    expect(problems('poll_age')).toEqual(['production', 'other', 'staging'])
  })

  test('says of a target without polls alone that its polls fail, not that its requests do', async () => {
    const state = await asJson([shownTarget({ ...FIRES, ...STALE })])
    const [incident] = state.incidents
    const [alert] = state.alerts
    const printed = (target: string, group: AlertMatch = incident!.group) => {
      const polls = { ...alert!, target, alert: 'NoGoodPoll', key: 'NoGoodPoll', signal: 'poll_age' as const }
      const alerts = [polls, { ...alert!, signal: 'request_errors' as const }]
      return problemsOf({ ...state, incidents: [{ ...incident!, group }], alerts })[0]
    }
    expect(printed('staging')).toMatch(/^critical: production: /)
    expect(printed('production')).not.toContain('critical')
    // Other alerts may be in that incident.
    expect(printed('production', { target: 'production' })).toContain('critical')
  })

  test('has the runbook of an incident by its public address', async () => {
    const { lines } = await status(await configOf([shownTarget(FIRES)], { publicUrl: 'https://calls.example/watch' }))
    expect(lines).toContain('  Runbook: https://calls.example/watch/runbooks/HighFailureRate')
    expect((await status(await configOf([shownTarget(FIRES)]))).lines.join('\n')).not.toContain('Runbook')
  })

  test('says that the service is slow although all is polled', async () => {
    expect(await status(await configOf([shownTarget({ slowAnswers: 4 })]))).toEqual({
      code: 0,
      lines: [
        'production: the service is slow: 4s an answer',
        'production is polled; no alert fires; no receiver fails',
      ],
    })
  })

  test('has the reasons of targets, and of receivers that refuse', async () => {
    const waiting = { pending: 1, oldest: NOW - 120 }
    const failure = { ...waiting, since: 1_800_000_000, problem: 'Slack answered 404: no_service', next: 1_800_000_300 }
    const receivers = () => [{ name: 'slack', failure }]
    const target = shownTarget({ ...STALE, problem: 'the service answered 503' })
    const { config, page } = await daemonOf([target], { receivers })
    expect((await status(config)).lines).toEqual([
      'production: no successful poll since TIME: the service answered 503',
      'receiver slack: nothing delivered since TIME: Slack answered 404: no_service; 1 message waiting, the oldest from 2m ago; next attempt at TIME',
      `next: \`callwatch check --probe\` says what the service answers, or open ${page}`,
    ])
  })

  test('says of a receiver that accepts some messages which fail and why, and nothing of one to which nothing waits', async () => {
    const linesOf = async (failure?: Failure) => {
      const receivers = () => [{ name: 'slack', failure }]
      const { lines } = await status(await configOf([shownTarget(FIRES)], { receivers }))
      return lines.filter((line) => line.startsWith('receiver'))
    }
    expect(await linesOf()).toEqual([])
    const failure = { problem: 'Slack answered 404', next: 1_800_000_000, pending: 2, oldest: NOW - 120 }
    expect(await linesOf(failure)).toEqual([
      'receiver slack: 2 messages waiting, the oldest from 2m ago; some refused: Slack answered 404; offered again at TIME',
    ])
  })

  test('has one line for an outage of several targets: three names, and the earliest time', async () => {
    const stale = (target: string, lastSuccessHostTime: number) =>
      shownTarget({ target, pollAge: 600, sync: { ...POLLED, lastSuccessHostTime } })
    const outage = ['a', 'b', 'c', 'd'].map((name, i) => stale(name, NOW - 600 - 60 * i))
    const { lines } = await status(await configOf([...outage, shownTarget({ target: 'e' })]))
    expect(lines[0]).toBe('4 of 5 targets, such as a, b, c: no successful poll since TIME (the earliest)')
    const { stdout } = await callwatch(['status', '--config', await configOf(outage.slice(0, 2))])
    const [, time] = /^a, b: no successful poll since (.*) UTC \(the earliest\)$/m.exec(stdout)!
    expect(Date.parse(`${time}Z`) / 1000).toBe(NOW - 660)
  })

  test('has one line for the initial syncs of many targets, with the numbers of the first', async () => {
    const first = (target: string, pagesRead: number) => ({
      ...shownTarget({ target, sync: {}, problem: 'the list is being read', fault: 'list' }),
      progress: () => ({ pagesRead, pages: 594, secondsLeft: 60 * pagesRead }),
    })
    expect((await status(await configOf([first('a', 42), first('b', 61)]))).lines).toEqual([
      '2 of 2 targets, such as a: the initial sync has read 42 of 594 pages, and takes about 42m more',
    ])
  })

  test('is wrapped between words in a narrow terminal but for a command, and lines of an incident stay indented', async () => {
    const config = await configOf([shownTarget({ ...FIRES, ...STALE })], { freshFrom: () => NOW + 1 })
    const fires = await configOf([shownTarget(FIRES)])
    const printed = async (columns: number | undefined, ...options: string[]) =>
      (await callwatch(['status', '--config', config, ...options], { columns })).stdout.trimEnd()
    const narrow = await printed(60)
    expect(narrow).toMatch(
      /^critical: production: no successful poll since .*\n {2}(?:UTC; )?before that, 42\.5% of 40 calls failed in 15\n {2}minutes, mostly rejected\n {2}Since/,
    )
    expect(narrow).toMatch(/^ {2}\S.*\n {4}\S/m)
    const isCommand = (line: string) =>
      line.startsWith('  `callwatch alerts calls HighFailureRate --target production`')
    const { stdout } = await callwatch(['status', '--config', fires], { columns: 60 })
    const lines = [...narrow.split('\n'), ...stdout.trimEnd().split('\n')]
    expect(lines.filter(isCommand)).toHaveLength(1)
    expect(Math.max(...lines.filter((line) => !isCommand(line)).map(({ length }) => length))).toBeLessThanOrEqual(60)
    expect(await printed(60, '--wide')).toMatch(/^critical: .{60}/)
  })

  test('says what suppresses an alert, apart from what is wrong', async () => {
    const state = await asJson([shownTarget(FIRES)])
    const suppressed = [
      { by: 'silence', silence: 1, until: isoTime(NOW), reason: 'known' },
      { by: 'inhibition', alert: 'Worse' },
      { by: 'mute' },
      { by: 'poll_age' },
    ] as const
    const lines = problemsOf({ ...state, alerts: [{ ...state.alerts[0]!, suppressed: [...suppressed] }] })
    expect(lines.slice(lines.indexOf('') + 1).map((line) => line.replaceAll(TIME, 'TIME'))).toEqual([
      'suppressed now: HighFailureRate: silence 1 until TIME: known; inhibited by Worse; muted; its target is not polled',
      expect.stringMatching(/^next: /),
    ])
  })

  test('says which rules have alerts that do not fire yet, and succeeds', async () => {
    const pending = { ...firing(WORSE), state: 'pending' as const, firingSince: undefined }
    const one = shownTarget({ ...FIRES, alerts: [pending] })
    const { code, lines } = await status(await configOf([one]))
    expect(code).toBe(0)
    expect(lines).toContainEqual(
      expect.stringMatching(/^pending: HighFailureRate fires from \d\d:\d\d:\d\d UTC on if it lasts$/),
    )
    const state = await asJson([one, shownTarget({ target: 'staging' })])
    expect(problemsOf(state)).toContainEqual(
      expect.stringMatching(/^pending: HighFailureRate on 1 target fires from \d\d:\d\d:\d\d UTC on if it lasts$/),
    )
    const alerts = state.alerts.map((alert) => ({ ...alert, fires_at: isoTime(NOW + 172_800) }))
    expect(problemsOf({ ...state, alerts }).map((line) => line.replace(TIME, 'TIME'))).toContain(
      'pending: HighFailureRate on 1 target fires from TIME on if it lasts',
    )
  })

  test('as JSON is the state of the API', async () => {
    const { url, config } = await daemonOf([shownTarget({ ...FIRES, ...STALE }), shownTarget({ target: 'b' })])
    const { code, stdout } = await callwatch(['status', '--json', '--config', config])
    expect(code).toBe(1)
    const answer = await fetch(`${url}/api/v1/state`, { headers: basic() })
    expect(stateSchema.strict().parse(JSON.parse(stdout))).toEqual(await answer.json())
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
