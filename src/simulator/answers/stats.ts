import type { Asked } from './answer.ts'
import { errorReply, jsonReply, type Reply } from './http.ts'
import type { CallsService } from './service.ts'

/** The calls that ended in a period; its times are in milliseconds, as the published sample has them. */
export function endedBetween({ world }: CallsService, query: URLSearchParams, unit = 1000) {
  const [from = NaN, to = NaN] = ['fromDate', 'toDate'].map((name) => Number(query.get(name) ?? NaN))
  if (!(from < to)) return undefined
  const calls = [...world.unlisted, ...world.listing].map(({ call }) => call)
  return calls.filter(({ endedAt = NaN }) => endedAt * unit >= from && endedAt * unit < to)
}

export const noPeriod = errorReply(400, 'ERR_BAD_REQUEST', 'fromDate and toDate are required.')

/** Usage metrics as the chat service publishes them; nobody has shown an answer. */
export function statsReply(minutes: (kind: 'Audio' | 'Video') => number): Reply {
  const metrics = { audio_minutes: minutes('Audio'), video_minutes: minutes('Video'), recorded_minutes: 0 }
  return jsonReply(200, JSON.stringify({ data: { metrics } }))
}

/** The minutes of participants in a period. */
export function stats(service: CallsService, { query }: Asked): Reply {
  const calls = endedBetween(service, query)
  if (calls === undefined) return noPeriod
  const participants = calls.flatMap((call) => call.participants)
  return statsReply((kind) => participants.reduce((sum, one) => sum + one[`total${kind}Minutes`], 0))
}
