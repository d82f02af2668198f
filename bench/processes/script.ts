import { writeFileSync } from 'node:fs'
import { Client } from 'undici'
import { z } from 'zod'
import { answer, forkedWith } from './answer.ts'
import { measure } from './measure.ts'

/**
 * The script that one writes in an afternoon: each poll reads the whole list back to the horizon, checks every call
 * with zod, compares it with what a Map keeps of it, and writes the metrics' text again. It keeps nothing on disk.
 */
const { url, metricsFile } = forkedWith<{ url: string; metricsFile: string }>()
const LOOKBACK = 86_400
const { origin, pathname } = new URL(url)
const client = new Client(origin)

const participant = z.object({
  uid: z.string(),
  totalAudioMinutes: z.number(),
  totalVideoMinutes: z.number(),
  isJoined: z.boolean(),
  joinedAt: z.number().optional(),
  leftAt: z.number().optional(),
  state: z.string(),
})
const call = z.object({
  sessionId: z.string(),
  type: z.enum(['audio', 'video']),
  mode: z.enum(['call', 'meet', 'presenter']),
  receiverType: z.enum(['user', 'group']),
  status: z.enum(['initiated', 'ongoing', 'ended', 'unanswered', 'rejected', 'canceled']),
  totalAudioMinutes: z.number(),
  totalVideoMinutes: z.number(),
  totalParticipants: z.number(),
  initiatedAt: z.number(),
  startedAt: z.number().optional(),
  endedAt: z.number().optional(),
  participants: z.array(participant),
})
const page = z.object({ data: z.array(call), meta: z.object({ pagination: z.object({ total_pages: z.number() }) }) })
type Call = z.output<typeof call>

const known = new Map<string, Call>()
const counters = new Map<string, number>()

answer(async ({ now }: { now: number }) => {
  const { measured, result: pages } = await measure(() => poll(now))
  return { ...measured, pages, calls: known.size }
})

async function poll(now: number): Promise<number> {
  const horizon = now - LOOKBACK
  for (let number = 1; ; number++) {
    const { body } = await client.request({ method: 'GET', path: `${pathname}/calls?page=${number}&perPage=100` })
    const { data, meta } = page.parse(await body.json())
    for (const call of data) compare(call)
    const isLast = number >= meta.pagination.total_pages || (data.at(-1)?.initiatedAt ?? 0) < horizon
    if (!isLast) continue
    for (const [id, { initiatedAt }] of known) if (initiatedAt < horizon) known.delete(id)
    writeFileSync(metricsFile, metricsText())
    return number
  }
}

function compare(call: Call): void {
  const before = known.get(call.sessionId)
  const labels = `type="${call.type}",mode="${call.mode}",receiver_type="${call.receiverType}"`
  if (before === undefined) add(`calls_started_total{${labels}}`, 1)
  if (call.endedAt !== undefined && before?.endedAt === undefined) {
    add(`calls_total{${labels},status="${call.status}"}`, 1)
  }
  const audio = call.totalAudioMinutes - (before?.totalAudioMinutes ?? 0)
  const video = call.totalVideoMinutes - (before?.totalVideoMinutes ?? 0)
  if (audio > 0) add(`call_minutes_total{${labels},media="audio"}`, audio)
  if (video > 0) add(`call_minutes_total{${labels},media="video"}`, video)
  known.set(call.sessionId, call)
}

function add(series: string, increment: number): void {
  counters.set(series, (counters.get(series) ?? 0) + increment)
}

function metricsText(): string {
  let open = 0
  for (const { endedAt } of known.values()) if (endedAt === undefined) open += 1
  return [...counters, ['calls_in_progress', open] as const].map(([series, value]) => `${series} ${value}\n`).join('')
}
