import { expect, test } from 'vitest'
import * as fc from 'fast-check'
import { matchOfAll } from '../../../src/alerts/match-keys.ts'
import { parseDuration } from '../../../src/schema/duration-text.ts'
import { silenceBody } from '../../../src/web/api/silences.ts'
import { ruleOn } from '../../kit/alerts/sample-rules.ts'
import type { State } from '../../../src/views/state/state.ts'
import { AUTH, basic, serve, shownTarget } from '../../kit/web/serve.ts'
import { statusFor } from '../../unit/web/status-for.ts'
import { runs } from '../../kit/runs.ts'

const NO_CALLS = ruleOn({ name: 'calls_finished', window: 3600 }, { name: 'NoCalls', breach: 'below' })
const headers = { ...basic(), 'content-type': 'application/json' }

async function silencing(auth?: typeof AUTH) {
  const { url, noted, tick } = await serve([shownTarget({ rules: [NO_CALLS] })], auth && { auth })
  const path = `${url}/api/v1/silences`
  return {
    noted,
    tick,
    add: (body: unknown) => fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }),
    end: (id: unknown) => fetch(`${path}/${String(id)}`, { method: 'DELETE', headers: basic() }),
    edit: (id: unknown, body: unknown) =>
      fetch(`${path}/${String(id)}`, { method: 'PATCH', headers, body: JSON.stringify(body) }),
    state: async (): Promise<State> => JSON.parse(await (await fetch(`${url}/api/v1/state`, { headers })).text()),
  }
}

const problemOf = async (answer: Response): Promise<unknown> => JSON.parse(await answer.text()).detail

test('/api/v1/silences adds a silence, lists it and ends it', async () => {
  const { add, state, end } = await silencing(AUTH)
  const added = await add({ match: { alert: 'NoCalls' }, for: '2h', reason: 'maintenance' })
  const silence = {
    id: 1,
    match: { alert: 'NoCalls' },
    since: '2026-09-21T14:13:20.000Z',
    until: '2026-09-21T16:13:20.000Z',
    reason: 'maintenance',
    author: 'ops',
    edits: 0,
  }
  expect([added.status, await added.json()]).toEqual([201, silence])
  expect((await state()).silences).toEqual([silence])
  expect((await end(1)).status).toBe(204)
  const { now, silences } = await state()
  expect(silences).toEqual([{ ...silence, until: now }])
})

test('/api/v1/silences accepts the match that a message suggests for ten rules', async () => {
  const names = Array.from({ length: 10 }, (_, i) => `${i}-${'a long name '.repeat(12).trim()}`)
  const fires = [NO_CALLS.name, ...names].map((name) => ({ alert: name, target: name, labels: {} }))
  const { alert = '' } = matchOfAll({}, fires)
  expect(alert.length).toBeGreaterThan(1400)
  const { add } = await silencing(AUTH)
  expect(await (await add({ match: { alert }, for: '1h' })).json()).toMatchObject({ match: { alert } })
})

test('/api/v1/silences are part of the state until seven days after their end', async () => {
  const { add, state, end, tick } = await silencing(AUTH)
  await add({ all: true, for: '1m' })
  await add({ all: true, for: '1d' })
  tick(600)
  expect((await end(2)).status).toBe(204)
  expect((await end(2)).status).toBe(404)
  tick(600)
  const ended = [
    { id: 1, until: '2026-09-21T14:14:20.000Z' },
    { id: 2, until: '2026-09-21T14:23:20.000Z' },
  ]
  expect((await state()).silences).toMatchObject(ended)
  tick(7 * 86_400 - 900)
  expect((await state()).silences).toMatchObject([ended[1]])
})

test('/api/v1/silences edits what is given', async () => {
  const { add, edit, noted } = await silencing(AUTH)
  const added = await add({ match: { alert: '=~No.*' }, for: '2h', reason: 'maintenance' })
  const silence: object = JSON.parse(await added.text())
  const longer = await edit(1, { for: '4h', edits: 0 })
  const after = { ...silence, until: '2026-09-21T18:13:20.000Z', edits: 1 }
  expect([longer.status, await longer.json()]).toEqual([200, after])
  const other = await edit(1, { match: { target: 'production' }, reason: '' })
  expect(await other.json()).toEqual({ ...after, match: { target: 'production' }, reason: '', edits: 2 })
  expect(await (await edit(1, { all: true })).json()).toMatchObject({ match: {}, edits: 3 })
  expect(noted.at(-1)).toMatchObject({
    kind: 'silence edited',
    peer: '127.0.0.1',
    user: 'ops',
    silence: { id: 1, edits: 3 },
  })
})

test('/api/v1/silences refuses an edit with a sentence', async () => {
  const { add, edit, end, state, noted } = await silencing(AUTH)
  await add({ match: { alert: 'NoCalls' }, for: '2h' })
  await edit(1, { for: '4h' })
  for (const [id, body, status, problem] of [
    [1, { for: '1h', edits: 0 }, 409, 'silence 1 was changed meanwhile; read it again, then edit it'],
    [7, { for: '1h' }, 404, 'there is no active silence 7'],
    [1, { for: '0s' }, 400, /above 0 and at most 366d/],
    [1, { match: {} }, 400, /^nothing to match/],
    [1, { match: { alert: 'NoCall' } }, 400, /^there is no rule NoCall/],
    [1, { until: '2027-01-01' }, 400, /until/],
  ] as const) {
    const answer = await edit(id, body)
    const sentence = typeof problem === 'string' ? problem : expect.stringMatching(problem)
    expect([answer.status, await problemOf(answer)]).toEqual([status, sentence])
  }
  expect((await state()).silences).toMatchObject([{ until: '2026-09-21T18:13:20.000Z', edits: 1 }])
  await end(1)
  expect((await edit(1, { for: '1h' })).status).toBe(404)
  expect(noted).toHaveLength(3)
})

test.each([
  [{ all: true }, /expected a duration such as "2h"\s.*for/],
  [{ all: true, for: '0' }, /above 0 and at most 366d/],
  [{ all: true, for: '0s' }, /above 0 and at most 366d/],
  [{ all: true, for: '367d' }, /above 0 and at most 366d/],
  [{ all: true, for: 7200 }, /expected a duration/],
  [{ all: true, seconds: 60 }, /seconds/],
  [{ for: '1m', match: { uid: 'x' } }, /uid/],
  [{ all: true, for: '1m', until: 1 }, /until/],
  [
    { for: '1m' },
    /^nothing to match; expected `match` with some of its keys, or `"all": true` to silence every alert$/,
  ],
  [{ for: '1m', match: {}, all: false }, /expected true, or nothing/],
  [{ for: '1m', match: { alert: 'NoCalls' }, all: true }, /^`all` together with a `match`; expected one of them$/],
  [{ for: '1m', match: { alert: 'NoCall' } }, /^there is no rule NoCall; there is: NoCalls$/],
  [{ for: '1m', match: { alert: '=~Low.*' } }, /^no rule matches =~Low.*; there is: NoCalls$/],
  [
    { for: '1m', match: { alert: '=~(No' } },
    /^the regular expression is none that RE2 understands: missing closing \)$/,
  ],
  [{ for: '1m', match: { target: 'staging' } }, /^there is no target staging; there is: production$/],
  [{ for: '1m', match: { severity: 'urgent' } }, /^there is no severity urgent; there is: critical, warning, info$/],
  [{ for: '1m', match: { mode: 'video' } }, /^there is no mode video; there is: call, meet, presenter, other$/],
])('/api/v1/silences refuses %j with a sentence', async (body, problem) => {
  const { add, state } = await silencing(AUTH)
  const answer = await add(body)
  expect([answer.status, await problemOf(answer)]).toEqual([400, expect.stringMatching(problem)])
  expect((await state()).silences).toEqual([])
})

test('/api/v1/silences silences every alert with `all`', async () => {
  const { add } = await silencing(AUTH)
  const added = await add({ all: true, for: '1d' })
  expect([added.status, await added.json()]).toMatchObject([201, { match: {}, until: '2026-09-22T14:13:20.000Z' }])
})

test('/api/v1/silences reads a duration as the configuration does', () => {
  const durations = fc.stringMatching(/^\d{0,13}(?:ms|s|m|h|d|w|)$/)
  fc.assert(
    fc.property(durations, (duration) => {
      const expected = parseDuration(duration) ?? 0
      const asked = silenceBody.safeParse({ all: true, for: duration })
      const isAccepted = expected > 0 && expected <= 366 * 86_400
      expect(asked.data?.for).toBe(isAccepted ? expected : undefined)
    }),
    { numRuns: runs(500), examples: [['1500ms'], ['7s'], ['90m'], ['2h'], ['366d'], ['1.5h']] },
  )
})

test.each([7, 'x', '1e3'])('/api/v1/silences/%s is 404: there is no such silence', async (id) => {
  const answer = await (await silencing(AUTH)).end(id)
  expect([answer.status, await problemOf(answer)]).toEqual([404, `there is no active silence ${id}`])
})

test('/api/v1/silences refuses changes without http.auth', async () => {
  const { add, edit, end, state } = await silencing()
  for (const answer of [await add({ all: true, for: '1m' }), await edit(1, { for: '1m' }), await end(1)]) {
    expect([answer.status, await problemOf(answer)]).toEqual([403, expect.stringContaining('http.auth')])
  }
  expect(await state()).toMatchObject({ silences: [], read_only: true })
})

test('/api/v1/silences notes each change with its user and address', async () => {
  const { add, end, noted } = await silencing(AUTH)
  await add({ match: { alert: 'NoCalls' }, for: '2h', reason: 'maintenance' })
  await add({ for: '2h' })
  await end(7)
  await end(1)
  const by = { peer: '127.0.0.1', user: 'ops' }
  expect(noted).toEqual([
    { kind: 'silence added', ...by, silence: expect.objectContaining({ id: 1, reason: 'maintenance' }) },
    { kind: 'silence expired', ...by, id: 1 },
  ])
})

const PUBLIC = 'https://calls.example:8443'

test.each([
  ['of another host', 'https://evil.test', 403],
  ['of another port', 'http://127.0.0.1:1', 403],
  ['with an opaque origin', 'null', 403],
  ['of another port of the host of http.public_url', 'https://calls.example', 403],
  ['of another scheme of http.public_url', 'http://calls.example:8443', 403],
  ['of callwatch itself', undefined, 201],
  ['of http.public_url, although a proxy has replaced the Host', PUBLIC, 201],
])('/api/v1/silences answers a change by a page %s: %s, status %i', async (_what, origin, status) => {
  const { url } = await serve([shownTarget({ rules: [NO_CALLS] })], { auth: AUTH, publicUrl: `${PUBLIC}/watch` })
  const path = `${url}/api/v1/silences`
  const from = { ...headers, origin: origin ?? url }
  const body = JSON.stringify({ all: true, for: '1m' })
  expect((await fetch(path, { method: 'POST', headers: from, body })).status).toBe(status)
  expect((await fetch(`${path}/1`, { method: 'PATCH', headers: from, body: '{"for":"2m"}' })).status).toBe(
    status === 201 ? 200 : 403,
  )
  const ending = await fetch(`${path}/1`, { method: 'DELETE', headers: { ...from, 'content-type': 'text/plain' } })
  expect(ending.status).toBe(status === 201 ? 204 : 403)
})

test.each([
  ['calls.example', 'http://calls.example', 404],
  ['calls.example:80', 'http://calls.example', 404],
  ['calls.example:443', 'https://calls.example', 404],
  ['calls.example:443', 'http://calls.example', 403],
  ['calls.example', 'http://calls.example:8080', 403],
  ['', 'null', 403],
])('of Host %j and Origin %s, a change gets status %i', async (host, origin, status) => {
  const { url } = await serve([shownTarget()], { auth: AUTH })
  expect(await statusFor(host, `${url}/api/v1/silences/1`, { ...basic(), origin }, 'DELETE')).toBe(status)
})
