import { firstValueFrom, NEVER, Subject } from 'rxjs'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/clock/clock.ts'
import { isoTime } from '../../../src/clock/times.ts'
import { suppressedAlerts } from '../../../src/notifications/delivery/suppress.ts'
import { stateChange, type StateChange } from '../../../src/views/state/state.ts'
import { readOverview, writeOverview } from '../../../src/views/state/overview.ts'
import { stateReader, type LiveState } from '../../../src/web/live-state.ts'
import { firing, NOW, POLLED, RATIO_RULE } from '../../kit/metrics/hand-made-target.ts'
import { eventClient } from '../../kit/web/event-client.ts'
import { AUTH, basic, serve, shownTarget, type ServeOptions } from '../../kit/web/serve.ts'
import type { TargetStatus } from '../../../src/pipeline/target.ts'

/** Polled again; nothing else has changed. */
const again = (target: TargetStatus): TargetStatus => ({
  ...target,
  ledger: { ...target.ledger, sync: { ...target.ledger.sync, seq: target.ledger.sync.seq + 1 } },
})

async function watch(targets: TargetStatus[], options: ServeOptions = {}, state = 'true') {
  const served = await serve(targets, options)
  const client = await eventClient(served.url, options.auth && basic(), `?state=${state}`)
  const next = async () => {
    const { event, data } = (await client.next())!
    expect(event).toBe('state')
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the server wrote it
    return data as StateChange
  }
  return { ...served, client, next }
}

const namesIn = ({ targets }: StateChange) => targets.map(({ name }) => name)

test('a stream has the whole state at first, then only what has changed', async () => {
  const targets = [shownTarget({ rules: [RATIO_RULE], alerts: [firing()], sync: POLLED }), shownTarget({ target: 'b' })]
  const { url, next, client } = await watch(targets)
  expect(client.response.headers.get('content-encoding')).toBe('gzip')
  const first = await next()
  expect(first).toMatchObject({ version: '1.2.3', now: '2026-09-21T14:13:20.000Z', names: ['production', 'b'] })
  expect(first).toMatchObject({ targets: [{ name: 'production', commit: 0 }, {}], alerts: [{ value: 0.425 }] })
  expect(first.minutes).toHaveLength(2)
  // It has no other field than its schema.
  expect(stateChange.parse(first)).toEqual(first)
  expect(first).toMatchObject({
    silences: [],
    read_only: true,
    can_find: false,
    needs_config: false,
    webhooks: [],
    receivers: [{ name: 'slack' }, {}],
  })
  // It equals what the API says.
  const { minutes: _minutes, since: _since, names: _names, ...state } = first
  expect(state).toEqual(await (await fetch(`${url}/api/v1/state`)).json())

  targets[1] = again(targets[1]!)
  const changed = await next()
  expect([namesIn(changed), changed.minutes, changed.names, changed.silences]).toEqual([
    ['b'],
    [],
    undefined,
    undefined,
  ])
  targets.pop()
  expect(await next()).toMatchObject({ names: ['production'], targets: [] })
})

test('a state that has come since a stream looked is noticed at once', async () => {
  const state$ = new Subject<LiveState>()
  const { changes, other$ } = stateReader(state$, NEVER, systemClock)
  expect(changes()).toBe('')
  state$.next({
    head: { version: '1.2.3', now: '' },
    parts: new Map([['names', { value: { names: ['a'] }, version: ['a'] }]]),
    texts: new Map(),
  })
  expect(await firstValueFrom(other$)).toBe(false)
  expect(changes()).toContain('"names":["a"]')
})

test('a stream of state=once has the whole state, and ends soon, so that a proxy that passes on only whole answers passes it on', async () => {
  const { next, client } = await watch([shownTarget({ sync: POLLED })], { isNamed: true }, 'once')
  expect(await next()).toMatchObject({
    names: ['production'],
    needs_config: true,
    targets: [{ name: 'production' }],
  })
  expect(await client.next()).toBeUndefined()
})

test('a silence changes the alerts that it matches', async () => {
  const { url, next } = await watch([shownTarget({ rules: [RATIO_RULE], alerts: [firing()], sync: POLLED })], {
    auth: AUTH,
  })
  expect(await next()).toMatchObject({ read_only: false })
  const headers = { ...basic(), 'content-type': 'application/json' }
  const body = JSON.stringify({ match: { alert: 'HighFailureRate' }, for: '2h' })
  await fetch(`${url}/api/v1/silences`, { method: 'POST', headers, body })
  const changed = await next()
  expect(changed.silences).toMatchObject([{ id: 1 }])
  expect(changed).toMatchObject({ targets: [{}], alerts: [{ silences: [1] }] })
})

test('targets are shown while the store is unavailable', async () => {
  const overview = readOverview(writeOverview(shownTarget({ target: 'b', sync: POLLED }), NOW))
  const others = [{ ...overview!, name: 'b', owner: 'host, process 7', problem: undefined }]
  const { next } = await watch([shownTarget({ sync: POLLED })], {
    others,
    storeProblem: 'the database db1 cannot be reached',
  })
  const first = await next()
  expect(first.problem).toBe('the database db1 cannot be reached')
  expect([namesIn(first), first.silences, first.receivers?.length]).toEqual([['production', 'b'], undefined, 2])
})

test('a pause is sent when it begins, and a target that is gone is sent again when it is back', async () => {
  const target = shownTarget({ sync: POLLED })
  const targets = [target, shownTarget({ target: 'b', sync: POLLED })]
  const { next } = await watch(targets)
  await next()
  targets[0] = { ...target, pausedFor: () => 60 }
  expect(await next()).toMatchObject({ targets: [{ rate_limit_pause_seconds: 60 }] })
  targets.pop()
  expect(namesIn(await next())).toEqual([])
  targets.push(shownTarget({ target: 'b', sync: POLLED }))
  expect(namesIn(await next())).toEqual(['b'])
})

test('a bug that the state meets ends its streams, and nothing else', async () => {
  const target = shownTarget({ sync: POLLED })
  const targets = [target]
  const { url, next, client } = await watch(targets)
  await next()
  const bug = () => {
    throw new TypeError('a bug')
  }
  targets[0] = { ...target, pollAge: bug }
  await expect(client.next()).rejects.toThrow('terminated')
  targets[0] = target
  expect((await fetch(`${url}/api/v1/state`)).status).toBe(200)
})

test('a stream without a change shows after ten seconds that it works', () => {
  const state$ = new Subject<LiveState>()
  let now = 0
  const { changes } = stateReader(state$, NEVER, { monotonic: () => now })
  const parts = new Map([['names', { value: { names: ['a'] }, version: 1 }]])
  const textsOf = [0, 9, 10].map((second) => {
    now = second
    state$.next({ head: { version: '1.2.3', now: isoTime(NOW + second) }, parts, texts: new Map() })
    return changes()
  })
  expect(textsOf[0]).toContain('"names":["a"]')
  const alone = JSON.stringify({ version: '1.2.3', now: isoTime(NOW + 10), targets: [], alerts: [], minutes: [] })
  expect(textsOf.slice(1)).toEqual(['', `event: state\ndata: ${alone}\n\n`])
})

test('the state says what suppresses an alert', async () => {
  const rule = { ...RATIO_RULE, name: 'Worse', severity: 'critical' as const }
  const alerts = [firing(RATIO_RULE), firing(rule)]
  const { next } = await watch([shownTarget({ rules: [RATIO_RULE, rule], alerts, sync: POLLED })], {
    suppressed: (lives, silences) =>
      suppressedAlerts(lives, { notify: { inhibit: [], mutes: [] }, silences, now: NOW }),
  })
  const suppressed = [{ by: 'inhibition', alert: 'Worse' }]
  expect((await next()).alerts).toMatchObject([{ alert: RATIO_RULE.name, suppressed }, { alert: 'Worse' }])
})
