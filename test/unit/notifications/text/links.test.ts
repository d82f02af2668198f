import { expect, test } from 'vitest'
import type { Signal } from '../../../../src/alerts/signals.ts'
import { isoTime } from '../../../../src/clock/times.ts'
import { callsRequest } from '../../../../src/alerts/calls-behind.ts'
import { groupLinks, linksOf } from '../../../../src/notifications/text/links.ts'
import { AT } from '../../../kit/notifications/delivery/sending.ts'
import { FIRING } from '../../../kit/notifications/sample.ts'

const PAGE = 'https://callwatch.test/watch'
const WINDOW = { from: AT - 900, to: AT }
const BETWEEN = { since: '2026-11-20T08:00:30.000Z', until: '2026-11-20T08:15:30.001Z' }

const ratio = (reason: 'any' | 'rejected'): Signal => ({ name: 'failure_ratio', reason, window: 900, minCalls: 20 })

test.each<[Signal, Record<string, string> | undefined]>([
  [ratio('any'), { status: 'unanswered,rejected,canceled', ...BETWEEN }],
  [ratio('rejected'), { status: 'rejected', ...BETWEEN }],
  [
    { name: 'calls_finished', window: 900 },
    { status: 'ended,unanswered,rejected,canceled,other', ...BETWEEN },
  ],
  [
    { name: 'duration_mean', window: 900, minCalls: 1 },
    { status: 'ended', ...BETWEEN },
  ],
  [
    { name: 'short_calls', window: 900, shorterThan: 10, minCalls: 1 },
    { status: 'ended', ...BETWEEN },
  ],
  [
    { name: 'recorded', window: 900, offset: 1800, minCalls: 1 },
    { status: 'ended', has_recording: 'false', ...BETWEEN },
  ],
  [{ name: 'in_progress' }, { status: 'in_progress' }],
  [{ name: 'poll_age' }, undefined],
  [
    { name: 'stuck_calls', longerThan: 60 },
    { status: 'in_progress', longer_than: '1m' },
  ],
  [
    { name: 'stuck_calls', longerThan: 90, status: 'initiated' },
    { status: 'initiated', longer_than: '90s' },
  ],
])('an alert on %j links to the calls behind it', (signal, selected) => {
  const notification = { ...FIRING, signal, labels: { type: 'video' }, match: { mode: 'call' }, window: WINDOW }
  const { calls } = linksOf(notification, PAGE)
  const request = callsRequest(notification)
  if (selected === undefined || calls === undefined) {
    expect([calls, request]).toEqual([undefined, undefined])
    return
  }
  const { origin, pathname, searchParams, hash } = new URL(calls)
  expect([`${origin}${pathname}`, hash]).toEqual([`${PAGE}/`, '#calls'])
  const named = { target: 'production', mode: 'call', type: 'video' }
  expect(Object.fromEntries(searchParams)).toEqual({ ...named, ...selected })
  // The API has the same calls by its own words.
  const { status, ...others } = selected
  const asked = status === 'in_progress' ? others : { status, ...others }
  expect(Object.fromEntries(new URL(request!, PAGE).searchParams)).toEqual({ ...named, ...asked })
})

test('an alert whose window is not known links to no calls, but to its page and its silence', () => {
  const { window: _window, ...notification } = { ...FIRING, window: undefined, labels: { type: 'video' } }
  const links = linksOf(notification, PAGE)
  expect(links.calls).toBeUndefined()
  const { searchParams, hash } = new URL(links.silence)
  expect([Object.fromEntries(searchParams), hash]).toEqual([
    { alert: FIRING.alert, target: 'production', type: 'video' },
    '#silences',
  ])
  const page = new URL(links.alert)
  expect([Object.fromEntries(page.searchParams), page.hash]).toEqual([
    { alert: FIRING.alert, target: 'production', type: 'video', since: isoTime(FIRING.firingSince) },
    '#alert',
  ])
})

test('an alert on calls in progress that has ended links to none: those of now are others', () => {
  const notification = { ...FIRING, signal: { name: 'in_progress' } as const, kind: 'resolved' as const }
  expect(linksOf(notification, PAGE)).not.toHaveProperty('calls')
})

test('the calls of a group are those of an alert whose value is known, not of one with too few calls since', () => {
  const group = { alert: FIRING.alert, severity: 'critical' as const }
  const measuredAt = (to: number) => ({ ...FIRING, window: { from: to - 900, to } })
  const [old, known] = [measuredAt(AT - 600), measuredAt(AT)]
  const until = (worst: (typeof known)[]) =>
    new URL(groupLinks([old, known], group, PAGE, worst).calls!).searchParams.get('until')
  expect([until([known]), until([])]).toEqual([isoTime(AT + 0.001), isoTime(AT - 599.999)])
})

test('what silences all of an incident on one target names that target and each rule, of a single alert its labels', () => {
  const other = { ...FIRING, alert: 'VeryHighFailureRate' }
  const silenced = (...alerts: (typeof FIRING)[]) =>
    Object.fromEntries(
      new URL(groupLinks(alerts, { alert: other.alert, severity: 'critical' }, PAGE).silence).searchParams,
    )
  expect(silenced(FIRING, other)).toEqual({ target: 'production', alert: '=~HighFailureRate|VeryHighFailureRate' })
  expect(silenced({ ...FIRING, labels: { type: 'video' } })).toEqual({
    alert: 'HighFailureRate',
    target: 'production',
    type: 'video',
  })
  expect(silenced(FIRING, { ...FIRING, target: 'shop' })).toEqual({ alert: 'HighFailureRate' })
})
