import type { RequestListener, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../../src/clock/clock.ts'
import { loadConfig } from '../../../src/config/load-config.ts'
import { targetFingerprint } from '../../../src/pipeline/target.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { callwatch, configFile, emptyFolder } from '../../kit/commands/callwatch.ts'
import { withStore } from '../../kit/commands/counted-world.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { openIn } from '../../kit/store/place.ts'

const EMPTY_LIST = JSON.stringify({ data: [], meta: { pagination: { total: 0 } } })

/** A store that has counted a call of each target, which their service, where each has a path of its own, no longer lists. */
async function counted(
  names: readonly string[],
  answer: RequestListener,
  { pathOf = (name: string) => name, limit = 2400 } = {},
) {
  const { url } = await localServer(answer)
  const path = join(emptyFolder(), 'callwatch.db')
  const targets = names.map(
    (name) => `{ name: ${name}, base_url: '${url}/${pathOf(name)}', on_behalf_of: ${name}, api_key: key }`,
  )
  const config = configFile(`
targets: [${targets.join(', ')}]
poll: { interval: 1s, retries: 0, max_requests_per_minute: ${limit} }
store: { path: ${path} }
`)
  const store = openSqliteStore({ path })
  onTestFinished(() => store.close())
  for (const target of loadConfig({ file: config, env: {}, cwd: '/' }).targets) {
    const { see } = await openIn(store, { name: target.name, fingerprint: targetFingerprint(target) })
    const call = seen('x', 'ended', { initiatedAt: CREATED + 1, startedAt: CREATED + 2, endedAt: CREATED + 9 })
    await see(completePoll(5, seen('x', 'initiated', { initiatedAt: CREATED + 1 })))
    await see(completePoll(30, call))
  }
  return { path, audit: (...more: string[]) => callwatch(['audit', ...more, '--config', config]) }
}

const empty = (response: ServerResponse) => void response.setHeader('content-type', 'application/json').end(EMPTY_LIST)

/** Four targets. One is refused, the others are answered only when all of them are waiting; the counters of one are wrong. */
async function fourTargets() {
  const waiting: ServerResponse[] = []
  let together = 3
  const { path, audit } = await counted(['a', 'b', 'c', 'd'], ({ url }, response) => {
    if (url!.startsWith('/c')) response.writeHead(401).end()
    else waiting.push(response)
    if (waiting.length >= together) waiting.splice(0).forEach(empty)
  })
  withStore(path, (db) =>
    db.exec(
      "UPDATE counters SET value = 2 WHERE series LIKE 'callwatch\\_calls\\_total|%' ESCAPE '\\' AND target = (SELECT number FROM targets WHERE name = 'b')",
    ),
  )
  return (number: number, ...more: string[]) => {
    together = number
    return audit(...more)
  }
}

test('audit compares several targets side by side, and prints a summary, a line for each equal one, and the details of the others', async () => {
  const audit = await fourTargets()
  const { code, stdout, stderr } = await audit(3)
  const [summary, ...lines] = stdout.trimEnd().split('\n')
  expect({ code, summary, stderr }).toEqual({
    code: 1,
    summary: '4 targets: 2 equal, 1 NOT EQUAL, 1 NOT VERIFIED',
    stderr: 'comparing 4 targets with what the service lists\n',
  })
  expect(lines.filter((line) => !line.startsWith(' '))).toEqual([
    'a: equal: all 0 finished calls that the service lists match the ledger',
    'd: equal: all 0 finished calls that the service lists match the ledger',
    '',
    'b: NOT EQUAL: the counters differ from the sums of the calls in the store',
    '',
    'c: NOT VERIFIED: nothing differs, but the comparison is incomplete',
  ])
  expect(lines).toContain('  DIFFERS finished: 2 in the counters, 1 in the calls of the store')
  expect(lines).toContainEqual(
    expect.stringMatching(/^ {2}compared incompletely: the key is not accepted; .*the service answered 401/),
  )
  const { targets } = JSON.parse((await audit(3, '--json')).stdout)
  expect(targets.map((one: { target: string }) => one.target)).toEqual(['a', 'b', 'c', 'd'])
})

test('audit --target compares only these targets, and prints all of a single one', async () => {
  const audit = await fourTargets()
  const one = await audit(1, '--target', 'd')
  expect([one.code, one.stderr]).toEqual([0, ''])
  expect(one.stdout).toMatch(/^d: equal: .*\n {2}back to 2026-/)
  const two = await audit(2, '--target', 'd', '--target', 'a')
  expect([two.code, two.stdout.split('\n')[0]]).toEqual([0, '2 targets: 2 equal, 0 NOT EQUAL, 0 NOT VERIFIED'])
  for (const usage of [[], ['--usage']]) {
    const { code, stderr } = await audit(1, '--target', 'e', ...usage)
    expect([code, stderr]).toEqual([2, 'there is no target e; there is: a, b, c, d\n'])
  }
})

test('audit says how far it is each ten seconds', async () => {
  const real = systemClock.monotonic
  let passed = 0
  const clock = vi.spyOn(systemClock, 'monotonic').mockImplementation(() => real() + passed)
  onTestFinished(() => clock.mockRestore())
  const { audit } = await counted(['a', 'b', 'c'], (_request, response) => {
    passed += 6
    empty(response)
  })
  const { stderr } = await audit()
  expect(stderr).toMatch(
    /^comparing 3 targets with what the service lists\ncompared ([12]) of 3 targets: \1 equal, 0 not\n$/,
  )
})

test('audit says which page it reads', async () => {
  const real = systemClock.monotonic
  let passed = 0
  const clock = vi.spyOn(systemClock, 'monotonic').mockImplementation(() => real() + passed)
  onTestFinished(() => clock.mockRestore())
  const { audit } = await counted(['a'], ({ url }, response) => {
    passed += 6
    const page = Number(new URL(url!, 'http://a').searchParams.get('page'))
    const call = {
      sessionId: `s${page}`,
      status: 'ended',
      type: 'audio',
      initiatedAt: CREATED,
      endedAt: CREATED + page,
    }
    const data = page > 7 ? [] : [call]
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ data, meta: { pagination: { total: 7, total_pages: 7, current_page: page } } }))
  })
  const { stderr } = await audit()
  expect(stderr.trimEnd().split('\n')).toEqual([3, 5, 7].map((page) => `a: reading page ${page} of at most 7`))
})

test('audit keeps the limit of requests of an app, however many of its targets it compares', async () => {
  let last = 0
  const { audit } = await counted(
    ['a', 'b', 'c', 'd'],
    (_request, response) => {
      last = systemClock.monotonic()
      empty(response)
    },
    { pathOf: () => 'app', limit: 480 },
  )
  const begun = systemClock.monotonic()
  expect((await audit()).code).toBe(0)
  // A quarter of 480 a minute, nine tenths of them evenly, and none at once.
  expect(last - begun).toBeGreaterThan((4 * 60) / (480 / 4))
})
