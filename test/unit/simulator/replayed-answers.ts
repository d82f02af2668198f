import type { RecordedResponse } from '../../../src/simulator/answers/responses.ts'
import { replay, type ReplayOptions } from '../../kit/replay/replay.ts'
import { START } from '../../kit/world/request-service.ts'

export const CREATED = START

export type Item = Record<string, unknown>

export function call(sessionId: string, status: string, more: Item = {}): Item {
  const labels = { type: 'audio', mode: 'call', receiverType: 'user' }
  return { sessionId, status, ...labels, initiatedAt: CREATED + 1, ...more }
}

export function response(
  path: string,
  status: number,
  body: unknown,
  more: Partial<RecordedResponse> = {},
): RecordedResponse {
  const date = new Date((CREATED + 60) * 1000).toUTCString()
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { at: CREATED + 60, method: 'GET', path: `/v3${path}`, status, date, body: text, delivered: true, ...more }
}

export function list(items: unknown[], total = items.length, page = 1): RecordedResponse {
  return response(`/calls?page=${page}&perPage=100`, 200, { data: items, meta: { pagination: { total } } })
}

export const get = (item: Item): RecordedResponse =>
  response(`/calls/${String(item['sessionId'])}`, 200, { data: item })
export const notFound = (id: string): RecordedResponse =>
  response(`/calls/${id}`, 404, { error: { code: 'ERR_CALL_SESSION_NOT_FOUND', message: 'no' } })

export const timeless = (id: string): Item => ({ sessionId: id, status: 'ended' })

export const audio = (status: string, minutes: unknown): RecordedResponse =>
  list([call('a', status, { totalAudioMinutes: minutes })])

/** A video call of which only durations are given. */
export function only(duration: number): RecordedResponse {
  const participants = [{ totalDuration: duration }, { totalDurationInMinutes: duration }]
  return list([call('a', 'ended', { type: 'video', totalDurationInMinutes: duration, participants })])
}

/** The series without `callwatch_` and the families' common endings, so that they can be read. */
export function replayed(responses: RecordedResponse[], options: Partial<ReplayOptions> = {}): Record<string, number> {
  const series = replay(responses, { created: CREATED, baseline: 'skip', ...options })
  return Object.fromEntries([...series].map(([name, value]) => [short(name), value]))
}

function short(name: string): string {
  const [, metric, labels = ''] = /^callwatch_(\w+?)_total(?:\{(.*)\})?$/.exec(name)!
  const { from, to, observed, ...rest } = Object.fromEntries(
    [...labels.matchAll(/(\w+)="(.*?)"/g)].map(([, label, value]) => [label!, value!]),
  )
  if (metric === 'call_transitions') return `${from} → ${to}${observed === 'true' ? '' : ' (inferred)'}`
  return [metric, ...Object.values(rest)].join(' ')
}
