import { expect, onTestFinished, test, vi } from 'vitest'
import { isoTime } from '../../../../src/clock/times.ts'
import { ServiceSearch } from '../../../../src/web/page/components/service-search.tsx'
import { findWanted } from '../../../../src/web/page/model/calls.ts'
import { change, current, type State } from '../../../../src/web/page/model/state.ts'
import { NOW } from '../../../kit/metrics/hand-made-target.ts'
import { shownTarget } from '../../../kit/web/serve.ts'
import { render, rowsOf, stateOf, textOf, withoutBrowser } from './render-text.ts'

const MISSED = "audio, to bob: rang 44s, nobody answered; bob's device did not join"
const CALLS = [
  { session_id: 'a', began: isoTime(NOW - 100), text: MISSED },
  { session_id: 'b', began: null, text: 'call: ended' },
]
const FOUND = { target: 'production', calls: CALLS, filter: 'ignored', unclear: 0, complete: true }

/** A page whose daemon may search, with these targets. */
function searchable(names: readonly string[] = ['production'], wanted: Partial<State['wanted']> = {}): State {
  const state = stateOf(names.map((target) => shownTarget({ target })))
  return { ...state, snapshot: { ...state.snapshot!, can_find: true }, wanted: { ...state.wanted, ...wanted } }
}

/** Answers requests; their addresses. */
function answering(body: unknown, status = 200): string[] {
  const asked: string[] = []
  vi.stubGlobal('fetch', async (address: string) => {
    asked.push(address)
    return new Response(JSON.stringify(body), { status })
  })
  return asked
}

test('there is no search where the daemon may not search', () => {
  const { snapshot, ...state } = searchable()
  expect(render(ServiceSearch, { ...state, snapshot: { ...snapshot!, can_find: false } })).toEqual([])
})

test('the form names a target only if there are several, and no time of a session', () => {
  const labelled = (state: State) =>
    render(ServiceSearch, state).flatMap(({ type, props }) => (type === 'select' ? props['id'] : []))
  expect(labelled(searchable())).toEqual(['wanted-by', 'wanted-since'])
  expect(labelled(searchable(['a', 'b'], { by: 'session_id' }))).toEqual(['wanted-target', 'wanted-by'])
})

test('a search shows a sentence a call with its time in the zone of the reader, and what callwatch did', async () => {
  vi.stubEnv('TZ', 'Europe/Berlin')
  onTestFinished(() => void vi.unstubAllEnvs())
  withoutBrowser()
  const asked = answering(FOUND)
  change(searchable(['production', 'staging'], { id: ' alice ', since: '2d' }))
  await findWanted()
  expect(asked).toEqual(['api/v1/find?target=production&uid=alice&since=2d'])
  const shown = render(ServiceSearch, current())
  expect(textOf(shown, { id: 'found-note' })).toBe('The service ignored the filter: callwatch filtered the list.')
  expect(rowsOf(shown)).toEqual(['Began What happened', `16:11:40 GMT+2 ${MISSED}`, 'at an unknown time call: ended'])
  expect(shown.flatMap(({ props }) => props['href'] ?? [])).toEqual([
    `./?target=production&session_id=a&began=${encodeURIComponent(isoTime(NOW - 100))}#call`,
    './?target=production&session_id=b#call',
  ])
  // The address of the page has nothing of it.
  expect([...current().query]).toEqual([])
})

test('a refusal is shown', async () => {
  withoutBrowser()
  answering({ detail: 'this daemon does not poll production; ask west-1' }, 409)
  change(searchable(['production'], { id: 'alice' }))
  await findWanted()
  expect(textOf(render(ServiceSearch, current()), { id: 'found-note' })).toContain(
    'The service was not searched: this daemon does not poll production; ask west-1.',
  )
})
