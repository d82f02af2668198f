import { answer } from '../../src/simulator/service.ts'
import type { CallsService } from '../../src/simulator/service.ts'
import { isObject, readCall } from '../system/truth/seen-call.ts'
import type { SeenCall } from '../system/truth/seen-call.ts'

/** What someone who looks at everything knows of a call in the end. */
export type Looked = {
  firstLabels: Labels
  labels: Labels
  status: string
  /** Absent while it is not over. */
  finish?: { labels: Labels; status: string }
  minutes: Record<string, number>
  startedAt?: number
  endedAt?: number
  participants?: number
  recorded: boolean
}

type Labels = { type: string; mode: string; receiver_type: string }

const STATUS_MAP = { cancelled: 'canceled', missed: 'unanswered', busy: 'rejected' }

/** Lists every page and asks for each open call that was not listed, as patiently and simply as can be. */
export function lookAtAll(service: CallsService, calls: Map<string, Looked>, at: number): void {
  const listed = new Set<string>()
  for (let page = 1; page <= 200; page++) {
    const body = ask(service, '/v3/calls', `page=${page}&perPage=100`, at)
    const items = body?.['data']
    if (!Array.isArray(items)) break
    for (const item of items) {
      const id = look(calls, item, at)
      if (id !== undefined) listed.add(id)
    }
    if (items.length === 0) break
  }
  for (const [id, { finish }] of calls) {
    if (finish || listed.has(id)) continue
    const body = ask(service, `/v3/calls/${encodeURIComponent(id)}`, '', at)
    if (body && !isObject(body['error'])) look(calls, isObject(body['data']) ? body['data'] : body, at)
  }
}

/** The body of an answer that arrived whole and is an object. */
function ask(service: CallsService, path: string, query: string, at: number): Record<string, unknown> | undefined {
  const headers = { apikey: service.keys.fullAccess }
  const { reply } = answer(service, { method: 'GET', path, query, headers }, at)
  if (reply.delivery !== 'whole') return undefined
  try {
    const body: unknown = JSON.parse(reply.body)
    return isObject(body) ? body : undefined
  } catch {
    return undefined
  }
}

function look(calls: Map<string, Looked>, item: unknown, now: number): string | undefined {
  const seen = readCall(item, { now, statusMap: STATUS_MAP })
  if (typeof seen === 'string' || !isObject(item)) return undefined
  const labels = { type: 'other', mode: 'other', receiver_type: 'other', ...calls.get(seen.id)?.labels, ...seen.labels }
  const call = calls.get(seen.id) ?? { firstLabels: labels, labels, status: '', minutes: {}, recorded: false }
  calls.set(seen.id, call)
  call.labels = labels
  call.status = seen.status
  if (seen.final) call.finish ??= { labels, status: seen.status }
  call.recorded ||= item['hasRecording'] === true || item['hasRecording'] === 'true' || item['hasRecording'] === 1
  for (const name of ['startedAt', 'endedAt'] as const) {
    const time = timeOf(item[name], now)
    if (time !== undefined) call[name] = time
  }
  const participants = Number(item['totalParticipants'] ?? NaN)
  if (typeof item['totalParticipants'] !== 'object' && participants > 1) call.participants = participants
  takeMinutes(call, seen)
  return seen.id
}

function takeMinutes(call: Looked, { callMinutes, participantMinutes }: SeenCall): void {
  const own = call.labels.type === 'video' ? 'video' : 'audio'
  const levels = [
    ['call', callMinutes, call.finish ? callMinutes.total : undefined],
    ['participant', participantMinutes, undefined],
  ] as const
  for (const [level, minutes, total] of levels) {
    for (const media of ['audio', 'video'] as const) {
      const added = level === 'participant' && media === own ? (minutes.total ?? 0) : 0
      const value = minutes[media] === undefined ? (media === own ? total : undefined) : minutes[media] + added
      const counted = call.minutes[`${level} ${media}`] ?? 0
      if (value !== undefined && (call.finish || value > counted)) call.minutes[`${level} ${media}`] = value
    }
  }
}

function timeOf(value: unknown, now: number): number | undefined {
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : NaN
  const seconds = number > 1e11 ? number / 1000 : number
  return seconds > 0 && seconds <= now + 86_400 ? Math.floor(seconds) : undefined
}
