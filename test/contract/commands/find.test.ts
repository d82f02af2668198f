import { expect, onTestFinished, test } from 'vitest'
import { takesPart, type Call } from '../../../src/simulator/calls/call.ts'
import { configFor } from '../../kit/commands/counted-world.ts'
import { callwatch, configFile } from '../../kit/commands/callwatch.ts'
import { startWorld } from '../../kit/world/start-world.ts'
import type { Switches } from '../../kit/world/switches.ts'

const KEY = 'hunter2-hunter2'

/** A service with the calls of six hours, its calls, and a configuration whose store does not exist. */
async function world(switches: Partial<Switches> = {}) {
  const options = { apiKey: KEY, history: 300, historySeconds: 21_600, callsPerMinute: 0, open: 0, switches }
  const simulator = await startWorld(options)
  onTestFinished(simulator.close)
  const list = await fetch(`${simulator.url}/calls?perPage=100`, { headers: { apikey: KEY } })
  const { data: calls }: { data: Call[] } = JSON.parse(await list.text())
  const config = configFor(simulator.url, '/nowhere/callwatch.db')
  const find = (...args: string[]) => callwatch(['find', ...args, '--config', config])
  return { calls, find }
}

test('a line a call, newest first, of a user; the pages that are read are on stderr', async () => {
  const { calls, find } = await world()
  const uid = calls[0]!.initiator
  const { code, stdout, stderr } = await find(uid, '--since', '2h')
  const twoHours = Date.now() / 1000 - 7200
  const own = calls.filter((call) => takesPart(call, uid) && call.initiatedAt! > twoHours)
  const began = own.map(({ initiatedAt = 0 }) =>
    new Date(initiatedAt * 1000).toISOString().slice(0, 19).replace('T', ' '),
  )
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'reading page 1\n' })
  expect(stdout.split('\n').map((line) => line.slice(0, 23))).toEqual([...began.map((at) => `${at} UTC`), ''])
  expect(stdout).toMatch(/UTC (audio|video), to /)
  expect(stdout.split('\n')[0]).toContain(` (session ${own[0]!.sessionId})`)
})

test('--until leaves out the calls that began later', async () => {
  const { calls, find } = await world()
  const uid = calls[0]!.initiator
  const own = calls.filter((call) => takesPart(call, uid))
  const all = JSON.parse((await find(uid, '--since', '6h', '--json')).stdout).calls.length
  const before = new Date(own[0]!.initiatedAt! * 1000).toISOString()
  const earlier = JSON.parse((await find(uid, '--since', '6h', '--until', before, '--json')).stdout).calls
  expect(earlier).toHaveLength(all - own.filter(({ initiatedAt }) => initiatedAt === own[0]!.initiatedAt).length)
})

test.each(['ignored', 'refused'] as const)('where the service has %s the filter, a sentence says so', async (how) => {
  const { calls, find } = await world({ peopleFilters: how })
  const guid = calls.find(({ receiverType }) => receiverType === 'group')!.receiver
  const { code, stdout, stderr } = await find('--group', guid, '--json')
  const document = JSON.parse(stdout)
  expect(code).toBe(0)
  expect(document).toMatchObject({ target: 'production', filter: how, complete: true, unclear: 0 })
  expect(new Set(document.calls.map((call: { receiver: string }) => call.receiver))).toEqual(new Set([guid]))
  expect(document.calls[0].user).toBeNull()
  expect(stderr).toContain('reading page 2 of at most 3')
  expect((await find('--group', guid)).stderr).toContain(`The service ${how} the filter: callwatch filtered the list.`)
})

test('the calls of a session are those of Get Call; an unknown one has none', async () => {
  const { calls, find } = await world()
  const { sessionId } = calls[0]!
  expect(JSON.parse((await find('--session-id', sessionId, '--json')).stdout)).toMatchObject({
    filter: 'none',
    calls: [{ session_id: sessionId }],
  })
  expect(await find('--session-id', 'none')).toEqual({ code: 0, stdout: '', stderr: 'No such call was found.\n' })
})

test('without a call of the user, a sentence says of which time and which id', async () => {
  const { find } = await world()
  const { code, stdout, stderr } = await find('bob', '--since', '2020-01-01')
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  expect(stderr).toContain('No call that began since 2020-01-01 00:00:00 UTC is of a user with the id bob.\n')
})

test.each([
  [[], 'name one of: a user, --group or --session-id'],
  [['alice', '--group', 'lobby'], 'name one of: a user, --group or --session-id'],
  [['alice', '--since', 'yesterday'], '--since yesterday: expected a date'],
  [['alice', '--target', 'staging'], 'there is no target staging'],
])('%j is wrong usage: exit 2 with a sentence', async (args, sentence) => {
  const config = configFor('http://127.0.0.1:1/v3', '/nowhere/callwatch.db')
  const { code, stdout, stderr } = await callwatch(['find', ...args, '--config', config])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(sentence)
})

test('a service that does not answer is a failure with a sentence', async () => {
  const target = "{ name: production, base_url: 'http://127.0.0.1:1/v3', api_key: hunter2-hunter2 }"
  const config = configFile(`{ targets: [${target}], poll: { retries: 0 } }`)
  const { code, stderr } = await callwatch(['find', 'alice', '--config', config])
  expect(code).toBe(1)
  expect(stderr).toContain('no answer from the service: connection refused')
})
