import { expect, test } from 'vitest'
import type { AlertInstance } from '../../../src/alerts/alert-instance.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import { secretsMask } from '../../../src/log/mask-secrets.ts'
import { runProgram } from '../../../src/program.ts'
import { firingOf, POLL_AGE, RATIO, ruleOn } from '../../kit/alerts/sample-rules.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { firing } from '../../kit/metrics/hand-made-target.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { openIn } from '../../kit/store/place.ts'
import { owningStore } from '../../kit/store/postgres/daemon.ts'
import { callwatch, configFile, emptyFolder } from '../../kit/commands/callwatch.ts'
import { storeInUse } from '../../kit/commands/store-in-use.ts'

const BUSY = ruleOn({ name: 'in_progress' }, { name: 'Busy' })
const window = { from: CREATED + 100, to: CREATED + 200 }
const earlier = { from: CREATED, to: CREATED + 95 }
const often = (type: 'audio' | 'video') => ({ alert: 'Often', key: `Often{type="${type}"}`, labels: { type } })
/** A call that ended so many seconds after the set-up. */
const over = (id: string, status: 'ended' | 'rejected', at: number) =>
  seen(id, status, { initiatedAt: CREATED + at - 5, endedAt: CREATED + at })

/** An alert that fires with so many failed calls of forty. */
function live(rejected: number, differing: Partial<AlertInstance> = {}) {
  const counts = { ended: 40 - rejected, unanswered: 0, rejected, canceled: 0, other: 0, total: 40 }
  return { changed: [{ ...firing(RATIO), key: 'Worst', counts, ...differing }], ended: [], notifications: [] }
}

/** Runs the command on a store whose calls and alerts a daemon still holds open. */
async function alertCalls(...args: string[]) {
  const { store, config } = storeInUse(['production', 'staging', "east Ann's"])
  const { see } = await openIn(store, { name: 'production', fingerprint: 'x' })
  const { see: seeOther } = await openIn(store, { name: 'staging', fingerprint: 'y' })
  const { see: seeFar } = await openIn(store, { name: "east Ann's", fingerprint: 'z' })
  const at = CREATED + 200
  const alert = (target: string, differing: Parameters<typeof firingOf>[3] = {}, rule: Rule = RATIO) =>
    firingOf(rule, target, at, { window, ...differing })
  await see(completePoll(30))
  await see(
    completePoll(
      250,
      over('early', 'rejected', 90),
      over('first', 'rejected', 100),
      over('fine', 'ended', 150),
      over('last', 'rejected', 200),
      over('late', 'rejected', 201),
      seen('open', 'ongoing', { initiatedAt: CREATED + 40, startedAt: CREATED + 50 }),
    ),
    {
      changes: [
        alert('production'),
        alert('production', { firingSince: at - 150, at: at - 150, window: earlier }),
        alert('production', { key: 'Split{type="audio"}', alert: 'Split', labels: { type: 'audio' } }),
        alert('production', { key: 'Split{type="video"}', alert: 'Split', labels: { type: 'video' } }),
        alert('production', { firingSince: at - 5000, at: at - 5000, window: earlier, ...often('audio') }),
        ...Array.from({ length: 1001 }, (_, i) => alert('production', { firingSince: at - i, ...often('video') })),
        alert('production', {}, POLL_AGE),
        alert('production', {}, BUSY),
        alert('production', { alert: 'Freed', key: 'Freed' }, BUSY),
        alert('production', { alert: 'Freed', key: 'Freed', kind: 'resolved', at: at + 9 }, BUSY),
      ],
    },
  )
  const worst = { alert: 'Worst', key: 'Worst' }
  await seeOther(completePoll(250), {
    changes: [
      alert('staging', { alert: 'Both', key: 'Both' }),
      alert('staging', worst),
      alert('staging', { ...worst, key: 'Worst{type="audio"}' }),
      alert('staging', { ...worst, key: 'Worst{type="audio"}', kind: 'resolved', at: at + 9 }),
    ],
    alerts: live(39, { state: 'recovering' }),
  })
  await seeFar(completePoll(30))
  await seeFar(completePoll(250, over('far', 'rejected', 150), seen('farther', 'ongoing')), {
    changes: [
      alert("east Ann's", { alert: 'Both', key: 'Both', firingSince: at - 1 }),
      alert("east Ann's", { alert: 'Busy', key: 'Busy' }, BUSY),
      alert("east Ann's", worst),
    ],
    alerts: live(20),
  })
  await see(completePoll(260), {
    changes: [
      alert('production', { alert: 'Both', key: 'Both', firingSince: at + 1 }),
      alert('production', { ...worst, firingSince: at + 1 }),
    ],
    alerts: live(19),
  })
  return callwatch(['alerts', 'calls', '--config', config, ...args])
}

const idsOf = async (...args: string[]) => {
  const { code, stdout, stderr } = await alertCalls(...args, '--format', 'ndjson')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const lines = stdout.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line).session_id)
}

test('alerts calls prints the calls behind the alert as a table, newest first', async () => {
  const { code, stdout, stderr } = await alertCalls('HighFailureRate')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toBe(
    [
      'began (UTC)          finished (UTC)       target      session id  type   mode  receiver  status    duration  participants',
      '2026-09-21 14:16:35  2026-09-21 14:16:40  production  last        audio  call  user      rejected         -             0',
      '2026-09-21 14:14:55  2026-09-21 14:15:00  production  first       audio  call  user      rejected         -             0',
      '',
    ].join('\n'),
  )
})

test('alerts calls prints them as CSV and JSON, as the API answers', async () => {
  const csv = (await alertCalls('HighFailureRate', '--format', 'csv')).stdout.split('\n')
  expect(csv[0]).toMatch(/^target,call_id,session_id,type,mode,/)
  expect(csv.slice(1).map((line) => line.split(',')[1])).toEqual(['last', 'first', undefined])
  const { calls } = JSON.parse((await alertCalls('HighFailureRate', '--json')).stdout)
  expect(calls).toMatchObject([
    { session_id: 'last', status: 'rejected', finished: '2026-09-21T14:16:40.000Z' },
    { session_id: 'first' },
  ])
})

test('alerts calls --limit prints the newest ones, and says that there are more', async () => {
  const some = await alertCalls('HighFailureRate', '--format', 'ndjson', '--limit', '1')
  expect(some.stdout.match(/"session_id":"\w+"/g)).toEqual(['"session_id":"last"'])
  expect(some.stderr).toBe('these are the newest 1; --limit prints more\n')
  expect(await idsOf('HighFailureRate', '--limit', '2')).toEqual(['last', 'first'])
})

test('alerts calls has the calls of one set of labels, of one target and in progress', async () => {
  expect(await idsOf('Split{type="audio"}')).toEqual(['last', 'first'])
  expect(await idsOf('Split{type="video"}')).toEqual([])
  expect(await idsOf('Both', '--target', 'staging')).toEqual([])
  expect(await idsOf('Both', '--target', 'production')).toEqual(['last', 'first'])
  expect(await idsOf('Busy', '--target', 'production')).toEqual(['open'])
})

test.each([
  ['2026-09-21 14:14:10', ['early']],
  ['2026-09-21T14:14:10', ['early']],
  ['2026-09-21T16:14:10+02:00', ['early']],
  ['2026-09-21 14:14', ['early']],
  ['2026-09-21 14:16Z', ['last', 'first']],
  ['2026-09-21', ['last', 'first']],
])('alerts calls --at %j finds the newest alert of that second, minute or day', async (at, ids) => {
  expect(await idsOf('HighFailureRate', '--at', at)).toEqual(ids)
})

test('alerts calls takes the newest of several alerts, and says how to name the others', async () => {
  const { code, stdout, stderr } = await alertCalls('Both', '--format', 'ndjson')
  expect(code).toBe(0)
  expect(stdout.match(/"session_id":"\w+"/g)).toEqual(['"session_id":"last"', '"session_id":"first"'])
  expect(stderr).toBe(
    "the calls behind Both on production, the newest alert; the others: `Both --target staging`, `Both --target 'east Ann'\\''s'`\n",
  )
  expect((await alertCalls('Split')).stderr).toMatch(/; the others: `'Split\{type="video"\}' --target production`\n$/)
})

test('alerts calls takes the alert that fires with most failed calls, rather than a newer one', async () => {
  const { stdout, stderr } = await alertCalls('Worst', '--format', 'ndjson')
  expect(stdout.match(/"session_id":"\w+"/g)).toEqual(['"session_id":"far"'])
  expect(stderr).toMatch(/^the calls behind Worst on east Ann's, the worst that fires now; the others: /)
  expect(stderr).not.toContain('audio')
})

test('targets can be named alone and among others', async () => {
  expect(await idsOf('Both', '--target', "east Ann's")).toEqual(['far'])
  expect(await idsOf('Busy', '--target', "east Ann's")).toEqual(['farther'])
  expect((await alertCalls('Both', '--target', 'staging, nope')).stderr).toContain('there is no target nope;')
})

test('alerts calls finds an alert that is older than a thousand of its rule', async () => {
  expect(await idsOf('Often{type="audio"}')).toEqual(['early'])
})

test('alerts calls prints calls before it has read all of them', async () => {
  const { store, config } = storeInUse()
  const { see } = await openIn(store, { name: 'production', fingerprint: 'x' })
  await see(completePoll(30))
  const many = Array.from({ length: 3000 }, (_, i) => over(`call-${i}`, 'rejected', 150))
  await see(completePoll(250, ...many), {
    changes: [firingOf(RATIO, 'production', CREATED + 200, { window })],
  })
  // Between two parts the event loop goes on.
  let isLater = false
  const printed: boolean[] = []
  const write = () => {
    printed.push(isLater)
    setImmediate(() => (isLater = true))
    return true
  }
  const stdout = { isTTY: false, hasColors: () => false, write }
  const args = ['alerts', 'calls', 'HighFailureRate', '--format', 'ndjson', '--config', config]
  await runProgram(args, { env: {}, cwd: emptyFolder(), stdout, stderr: stdout, secrets: secretsMask([]) })
  expect([printed.length, printed[0], printed.at(-1)]).toEqual([3000, false, true])
})

test.each([
  [['Nope'], 'no alert Nope fired; `callwatch alerts` lists those that did'],
  [['HighFailureRate', '--at', '2026-09-21T14:00'], 'no alert HighFailureRate fired at 2026-09-21T14:00;'],
  [['HighFailureRate', '--at', '2026-09-22'], 'no alert HighFailureRate fired at 2026-09-22;'],
  [['HighFailureRate', '--at', 'then'], '--at then: expected a time in UTC such as 2026-11-20 08:00:00,'],
  [['HighFailureRate', '--at', '2026'], '--at 2026: expected a time in UTC such as'],
  [['HighFailureRate', '--at', '7d'], '--at 7d: expected a time in UTC such as'],
  [['NoGoodPoll'], 'there is no list of the calls behind NoGoodPoll: it measures poll_age'],
  [['Freed'], 'the calls behind Freed are not known any more: it has ended, and it measured calls in progress'],
  [['Both', '--target', 'nope'], 'there is no target nope; there is: production, staging,'],
  [[], "missing required argument 'alert'"],
])('alerts calls %j exits 2 with a sentence', async (args, sentence) => {
  const { code, stdout, stderr } = await alertCalls(...args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(sentence)
})

inPostgres('alerts calls in PostgreSQL', ({ newDatabase }) => {
  test('prints calls that finished and calls in progress', async () => {
    const url = await newDatabase()
    const { see } = await openIn(await owningStore(url), { name: 'east west', fingerprint: 'x' })
    await see(completePoll(30))
    const fired = (rule: Rule) => firingOf(rule, 'east west', CREATED + 200, { window })
    const busy = { ...fired(BUSY), alert: 'Busy', key: 'Busy' }
    await see(completePoll(250, over('over', 'rejected', 150), seen('open', 'ongoing')), {
      changes: [fired(RATIO), busy],
    })
    const config = configFile(`
targets: [{ name: 'east west', base_url: 'http://127.0.0.1:1/v3', api_key: key }]
store: { url: '${url}' }
`)
    const calls = async (...args: string[]) =>
      (await callwatch(['alerts', 'calls', '--config', config, ...args, '--format', 'ndjson'])).stdout
    expect(await calls('HighFailureRate', '--at', '2026-09-21')).toMatch(/^.*"session_id":"over".*\n$/)
    expect(await calls('Busy', '--target', 'east west')).toMatch(/^.*"session_id":"open".*\n$/)
  })
})
