import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { isoTime } from '../../../../src/clock/times.ts'
import { Silencing } from '../../../../src/web/page/components/silencing.tsx'
import {
  editAddress,
  expireSilence,
  saveSilence,
  silenceCommand,
  silenceRequest,
  silencesIn,
} from '../../../../src/web/page/model/silences.ts'
import { change, current } from '../../../../src/web/page/model/state.ts'
import { NOW } from '../../../kit/metrics/hand-made-target.ts'
import { shownTarget } from '../../../kit/web/serve.ts'
import { render, stateOf, textOf, withoutBrowser } from './render-text.ts'

const MAIN = join(import.meta.dirname, '../../../../src/main.ts')
const STORE = join(import.meta.dirname, '../../../../src/store/open-sqlite.ts')
const SILENCE = { id: 3, match: { alert: '=~High.*' }, since: isoTime(NOW - 60), reason: 'a carrier outage', edits: 2 }

beforeEach(() => void vi.stubEnv('TZ', 'Europe/Berlin'))
afterEach(() => vi.unstubAllEnvs())

test.each([
  ['alert=NoCalls&target=production', { match: { alert: 'NoCalls', target: 'production' }, for: '1h', reason: '' }],
  ['alert==~No.*&for=1d&reason=a+move', { match: { alert: '=~No.*' }, for: '1d', reason: 'a move' }],
  ['all=true', { all: true, for: '1h', reason: '' }],
  ['all=true&alert=NoCalls', { match: { alert: 'NoCalls' }, for: '1h', reason: '' }],
  ['', { match: {}, for: '1h', reason: '' }],
  ['mode=call&for=until&until=2026-09-21T14:14:20Z', { match: { mode: 'call' }, for: '60s', reason: '' }],
  ['mode=call&for=until&until=2026-09-21T16:14:20', { match: { mode: 'call' }, for: '60s', reason: '' }],
  ['edit=3&edits=2&alert=NoCalls', { match: { alert: 'NoCalls' }, reason: '', edits: 2 }],
  ['edit=3&edits=2&alert=NoCalls&for=4h', { match: { alert: 'NoCalls' }, for: '4h', reason: '', edits: 2 }],
])('the form of ?%s sends %j', (query, body) => {
  expect(silenceRequest(new URLSearchParams(query), NOW * 1000)).toEqual(body)
})

test.each(['2026-09-21T14:13:20Z', '', '2h'])('a silence cannot end at “%s”', (until) => {
  const query = new URLSearchParams({ for: 'until', until })
  expect(() => silenceRequest(query, NOW * 1000)).toThrow('The end is not in the future')
})

test('the link that edits a silence has all of it, and of which edit it is', () => {
  const silence = { ...SILENCE, until: isoTime(NOW + 60) }
  expect(editAddress(silence)).toBe('./?alert=%3D%7EHigh.*&reason=a+carrier+outage&edit=3&edits=2#silences')
  expect(editAddress({ ...silence, match: {}, reason: '' })).toBe('./?all=true&edit=3&edits=2#silences')
})

test.each([
  [
    'alert==~High.*&target=production&for=4h',
    "callwatch silence add --match 'alert=~High.*' --match target=production --for 4h --reason REASON",
  ],
  [
    "alert=NoCalls&reason=it's+moved&for=until",
    String.raw`callwatch silence add --match alert=NoCalls --for 1h --reason 'it'\''s moved'`,
  ],
])('the command for ?%s is %s', (query, command) => {
  expect(silenceCommand(new URLSearchParams(query))).toBe(command)
})

test('a shell and callwatch read the command as it is meant', { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'silences-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const config = join(folder, 'callwatch.yaml')
  const target = "{ name: root, base_url: 'http://127.0.0.1:1/v3', api_key: key }"
  const store = join(folder, 'callwatch.db')
  writeFileSync(config, `targets: [${target}]\nstore: { path: ${store} }\n`)
  const made = `import { openSqliteStore } from '${STORE}'; await openSqliteStore({ path: '${store}' }).close()`
  spawnSync(process.execPath, ['--input-type=module', '-e', made])
  const match = { alert: '=~No.*|$HOME', target: '=~root', severity: 'critical', mode: 'call' }
  const reason = `-- it's "moved" to $HOME, \`date\` & *!`
  const program = `callwatch() { '${process.execPath}' '${MAIN}' "$@" --config '${config}'; }`
  const silence = silenceCommand(new URLSearchParams({ ...match, reason, for: '2h' }))
  const { stdout, stderr } = spawnSync('bash', ['-c', `${program}; ${silence} && callwatch silence list --json`], {
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  expect(JSON.parse(stdout.slice(stdout.indexOf('{'))).silences).toMatchObject([{ match, reason }])
})

test('what is confirmed is in the lists at once', async () => {
  withoutBrowser()
  const added = { ...SILENCE, until: isoTime(NOW + 60) }
  vi.stubGlobal('PopStateEvent', Event)
  vi.stubGlobal('dispatchEvent', () => true)
  vi.stubGlobal('history', { replaceState: () => undefined })
  vi.stubGlobal('fetch', async (_: string, { method }: RequestInit) =>
    method === 'DELETE' ? new Response(undefined, { status: 204 }) : Response.json(added),
  )
  const tables = () => render(Silencing, current()).flatMap(({ type, text }) => (type === 'table' ? [text] : []))
  change(stateOf([shownTarget()], { view: 'silences', query: new URLSearchParams('all=true') }))
  await saveSilence()
  expect(tables()).toEqual([expect.stringMatching(/active.*alert=~High\.\* silence 3/)])
  expect(current().silencing).toMatchObject({ done: 'Silence 3 was added.', problem: undefined })
  await expireSilence(3)
  expect(tables()).toEqual([expect.stringMatching(/^Expired.*alert=~High\.\* silence 3/)])
  expect(current().silencing).toMatchObject({ done: 'Silence 3 expired.', problem: undefined })
})

test('expired silences are apart from active ones, the newest first', () => {
  const state = stateOf([shownTarget()])
  const ending = [NOW - 60, NOW + 60, NOW, NOW - 30].map((until, id) => ({ ...SILENCE, id, until: isoTime(until) }))
  state.snapshot!.silences = ending
  const { active, expired } = silencesIn(state.snapshot)
  expect([active, expired].map((silences) => silences.map(({ id }) => id))).toEqual([[1], [2, 3, 0]])
})

test.each([
  ['alert=NoCalls', 1, 'Silence 1 alert for 1 hour'],
  ['alert=NoCalls&for=1d', 296, 'Silence 296 alerts for 1 day'],
  ['alert=NoCalls&for=2h', 0, 'Silence for 2h'],
  ['for=until', 296, 'Silence until a time'],
  ['all=true', 296, 'Silence 296 alerts for 1 hour'],
  ['alert=NoCalls&edit=3', 1, 'Save'],
])('the button of the form of ?%s with %i alerts says “%s”', (query, answer, text) => {
  const matched = { request: '', answer, problem: undefined, asOf: '' }
  const state = stateOf([shownTarget()], { query: new URLSearchParams(query), matched })
  expect(textOf(render(Silencing, state), { type: 'submit', class: 'primary' })).toBe(text)
})

test('the view of silences has the command instead of the form without http.auth', () => {
  const query = new URLSearchParams('alert=NoCalls')
  const state = stateOf([shownTarget()], { query })
  state.snapshot!.silences = [{ ...SILENCE, until: isoTime(NOW + 60) }]
  expect(render(Silencing, state).filter(({ type }) => type === 'form' || type === 'button')).toHaveLength(3)
  state.snapshot!.read_only = true
  const elements = render(Silencing, state)
  expect(elements.filter(({ type }) => type === 'form' || type === 'button')).toEqual([])
  expect(textOf(elements, { id: 'silencing' })).toMatch(
    /^Add a silence This command silences it, where callwatch runs: callwatch silence add --match alert=NoCalls --for 1h --reason REASON Set http.auth to silence alerts from this page\.$/,
  )
  state.snapshot!.needs_config = true
  expect(textOf(render(Silencing, state), { id: 'silencing' })).toContain(
    'callwatch silence add --config FILE --match alert=NoCalls --for 1h --reason REASON',
  )
  const empty = render(Silencing, { ...state, query: new URLSearchParams('all=true') })
  expect(textOf(empty, { id: 'silencing' })).toMatch(/ “Silence” next to an alert leads here with the command/)
  expect(textOf(empty, { id: 'silencing' })).not.toContain('callwatch silence add')
})
