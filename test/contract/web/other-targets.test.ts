import fastify from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { callsRoute } from '../../../src/web/api/calls.ts'
import { mount } from '../../../src/web/api/route.ts'
import { readOverview, writeOverview, type OtherTarget } from '../../../src/views/state/overview.ts'
import { targetView } from '../../../src/views/state/target.ts'
import type { TargetStatus } from '../../../src/pipeline/target.ts'
import { finish, firing, NOW, openCall, POLLED } from '../../kit/metrics/hand-made-target.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'

/** A target as the daemons show it that do not own it, `age` seconds after its owner wrote its overview. */
function elsewhere(target: TargetStatus, owner: string | undefined = 'host, process 7', age = 0): OtherTarget {
  const overview = readOverview(writeOverview(target, NOW - age))
  if (overview === undefined) throw new Error('the overview was not understood')
  return { ...overview, name: target.name, owner, problem: undefined }
}

const getJson = async (url: string) => JSON.parse(await (await fetch(url)).text())

const B = () =>
  shownTarget({
    target: 'b',
    sync: POLLED,
    calls: [openCall('x')],
    finished: [finish('ended', 10)],
    alerts: [firing()],
    sweepAge: 30,
  })

describe('a target of another daemon', () => {
  test('has in /api/v1/state what its owner shows, with its owner', async () => {
    const { url } = await serve([shownTarget({ target: 'a' })], { others: [elsewhere(B())] })
    const { targets } = await getJson(`${url}/api/v1/state`)
    expect(targets.map(({ name }: { name: string }) => name)).toEqual(['a', 'b'])
    expect(targets[1]).toEqual({ ...JSON.parse(JSON.stringify(targetView(B()))), owner: 'host, process 7' })
  })

  test('is in its place among hundreds', async () => {
    const names = Array.from({ length: 201 }, (_, i) => `app-${i}`)
    const { url } = await serve([], { others: names.map((name) => elsewhere(shownTarget({ target: name }))) })
    const { targets } = await getJson(`${url}/api/v1/state`)
    expect(targets.map(({ name }: { name: string }) => name)).toEqual(names)
  })

  test('is not shown with how the values of its alerts went, which its history has', () => {
    const target = { ...B(), alerts: new Map([['x', { ...firing(), values: [[NOW, 0.5]] as const }]]) }
    expect(elsewhere(target).alerts).toEqual([firing()])
  })

  test('is older there by the time since its overview was written', async () => {
    const paused = { ...B(), pausedFor: () => 20 }
    const { url } = await serve([], { others: [elsewhere(paused, 'host, process 7', 8)] })
    const { targets } = await getJson(`${url}/api/v1/state`)
    expect(targets[0]).toMatchObject({ up: true, lag_seconds: 13, sweep_age_seconds: 38, rate_limit_pause_seconds: 12 })
  })

  test('is down there with the reason while no daemon owns it', async () => {
    const { url } = await serve([], {
      others: [{ ...elsewhere(B()), owner: undefined, problem: 'no daemon owns it at the moment' }],
    })
    const { targets } = await getJson(`${url}/api/v1/state`)
    expect(targets[0]).toMatchObject({ up: false, problem: 'no daemon owns it at the moment', in_progress: 1 })
    expect(targets[0]).not.toHaveProperty('owner')
  })

  test('has its alerts in /api/v1/state', async () => {
    const { url } = await serve([shownTarget({ target: 'a' })], { others: [elsewhere(B())] })
    const { url: ofOwner } = await serve([shownTarget({ target: 'a' }), B()])
    const [{ alerts }, own] = await Promise.all([url, ofOwner].map((from) => getJson(`${from}/api/v1/state`)))
    expect(alerts).toHaveLength(1)
    expect(alerts).toEqual(own.alerts)
  })

  test('has its calls in progress in /api/v1/calls, from the store', async () => {
    const app = fastify()
    onTestFinished(() => app.close())
    const asked: (readonly string[])[] = []
    const openCalls = async (names: readonly string[]) => {
      asked.push(names)
      return names.map((target) => ({ target, call: openCall(`of ${target}`) }))
    }
    const own = shownTarget({ target: 'a', calls: [openCall('of a')] })
    const targets = { all: () => ['a', 'b', 'c'], own: () => [own], others: () => [{ name: 'b' }, { name: 'c' }] }
    mount(app, callsRoute, { targets, store: { rows: async () => [], openCalls } })
    const list = async (query: string) =>
      (await app.inject(`/api/v1/calls${query}`)).json().calls.map((call: { session_id: string }) => call.session_id)
    expect(await list('')).toEqual(['of a', 'of b', 'of c'])
    expect(await list('?target=c')).toEqual(['of c'])
    expect(await list('?target=a')).toEqual(['of a'])
    expect(asked).toEqual([['b', 'c'], ['c']])
  })
})

test.each(['', 'x', '{}', '[1]', '"x"', '1', 'null', '{"at":1}', '{"at":1}\n{}'])(
  'an overview that another version wrote as %j is not understood',
  (text) => expect(readOverview(text)).toBeUndefined(),
)

test.each([
  ['another version', (overview: object) => ({ ...overview, version: 1 })],
  ['no version', (overview: object) => ({ ...overview, version: undefined })],
  ['alerts without their rule', (overview: object) => ({ ...overview, alerts: [{ ...firing(), rule: undefined }] })],
  ['alerts in an unknown state', (overview: object) => ({ ...overview, alerts: [{ ...firing(), state: 'x' }] })],
  ['nothing that was committed', (overview: object) => ({ ...overview, committed: {} })],
  ['what was committed as a list', (overview: object) => ({ ...overview, committed: [1] })],
  ['no current state', (overview: object) => ({ ...overview, current: undefined })],
])('an overview of %s is not understood', (_what, change) => {
  const text = writeOverview(B(), NOW)
  expect(readOverview(text)).toBeDefined()
  expect(readOverview(JSON.stringify(change(JSON.parse(text))))).toBeUndefined()
})
