import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { isoTime } from '../../../../src/clock/times.ts'
import { callsRequest } from '../../../../src/web/page/model/calls.ts'
import { CallsExplorer } from '../../../../src/web/page/components/calls.tsx'
import type { Call } from '../../../../src/web/page/model/api.ts'
import { NOW, POLLED } from '../../../kit/metrics/hand-made-target.ts'
import { shownTarget } from '../../../kit/web/serve.ts'
import type { State } from '../../../../src/web/page/model/state.ts'
import { render, rowsOf, stateOf, textOf, type Rendered } from './render-text.ts'

beforeEach(() => void vi.stubEnv('TZ', 'UTC'))
afterEach(() => void vi.unstubAllEnvs())

const call = (id: string, status: Call['status'], type: Call['type'], mode: Call['mode'] = 'call'): Call => ({
  target: 'production',
  call_id: id,
  session_id: id,
  type,
  mode,
  receiver_type: 'user',
  status,
  began: isoTime(NOW - 60),
  finished: isoTime(NOW),
  minutes: { audio: 1, video: 0 },
  participant_minutes: { audio: 2, video: 0 },
  participants: 2,
  has_recording: false,
})

const listing = (calls: Call[], query = {}) =>
  stateOf([shownTarget({ sync: POLLED })], {
    query: new URLSearchParams(query),
    calls: { request: 'since=A', calls, next: undefined, isLoading: false, problem: undefined, asOf: isoTime(NOW) },
  })

test('the list of calls is summed up by outcome, type and mode, and says whether there are more', () => {
  const calls = [call('a', 'rejected', 'video'), call('b', 'ended', 'audio', 'meet'), call('c', 'ended', 'video')]
  const factsOf = (next?: string) => {
    const state = listing(calls)
    return textOf(render(CallsExplorer, { ...state, calls: { ...state.calls, next } }), { class: 'facts' })
  }
  expect(factsOf()).toBe('Outcome ended 2, rejected 1 Type video 2, audio 1 Mode call 2, meet 1')
  expect(factsOf('a')).toMatch(/^Outcome of these 3 ended 2, rejected 1 Type of these 3 video 2/)
  const noteOf = (next?: string, query = {}) => {
    const state = listing(calls, query)
    return textOf(render(CallsExplorer, { ...state, calls: { ...state.calls, next } }), { id: 'explorer-note' })
  }
  expect(noteOf()).toBe('3 calls, all that match. As of 14:13:20 UTC.')
  expect(noteOf('a')).toBe('3 calls, the newest; there are more. As of 14:13:20 UTC.')
  expect(noteOf('a', { status: 'ongoing' })).toMatch(/^3 calls, the first; there are more\. /)
  const none = render(CallsExplorer, listing([]))
  expect(textOf(none, { class: 'facts' })).toBeUndefined()
  expect(textOf(none, { id: 'explorer-note' })).toMatch(/^No calls yet. callwatch has polled production for 1h. As of/)
})

test('a list that is loaded has lines without text, and one that cannot be loaded has a button', () => {
  const shown = (calls: Partial<State['calls']>) => {
    const state = listing([])
    return render(CallsExplorer, { ...state, calls: { ...state.calls, ...calls } })
  }
  const lines = (elements: Rendered[]) => elements.filter(({ type }) => type === 'i').length
  expect(lines(shown({ isLoading: true }))).toBe(12)
  const failed = shown({ problem: 'The calls could not be loaded: callwatch cannot be reached.' })
  expect(lines(failed)).toBe(0)
  expect(textOf(failed, { id: 'explorer-note' })).toBe(
    'The calls could not be loaded: callwatch cannot be reached. Try again',
  )
})

test('the folded filters say what is selected', () => {
  const summary = (query: object) =>
    render(CallsExplorer, listing([], query)).find(({ type }) => type === 'summary')?.text
  expect(summary({})).toBe('Filters')
  expect(summary({ target: 'production', type: 'video', status: '', zone: 'UTC' })).toBe(
    'Filters: target=production, type=video',
  )
})

test('without a search of the service, the view says how to find the calls of a user', () => {
  const hint = (state: State) =>
    render(CallsExplorer, state).some(({ text }) => text.startsWith('To find the calls of a'))
  const { snapshot, ...state } = listing([])
  expect([true, false].map((can_find) => hint({ ...state, snapshot: { ...snapshot!, can_find } }))).toEqual([
    false,
    true,
  ])
})

test('the times are those of the beginning where the reader chooses so', () => {
  const labels = (query: object) =>
    render(CallsExplorer, listing([], query)).flatMap(({ type, text }) => (type === 'label' ? [text.trim()] : []))
  expect(labels({})).toContain('Finished from (UTC)')
  expect(labels({ began: 'true' })).toEqual(expect.arrayContaining(['Began from (UTC)', 'Began before (UTC)']))
  expect(callsRequest(new URLSearchParams({ since: isoTime(NOW), began: 'true' }), NOW * 1000 + 1)).toMatch(
    /&began=true$/,
  )
})

test('when a call began has the day only if it is not that on which the call finished', () => {
  const rowWith = (differing: Partial<Call>) =>
    rowsOf(render(CallsExplorer, listing([{ ...call('a', 'ended', 'audio'), ...differing }])))[1]
  const yesterday = NOW - 86_400
  expect(rowWith({ began: isoTime(yesterday - 60), finished: isoTime(yesterday) })).toMatch(
    /^2026-09-20 14:13:20 .* user 14:12:20 /,
  )
  expect(rowWith({ began: isoTime(yesterday) })).toMatch(/^14:13:20 .* user 2026-09-20 14:13:20 /)
})
