import { Pool } from 'undici'
import { answer, forkedWith } from './answer.ts'
import { callAt, newestCall, worldOfApp, type World } from './world.ts'

/** Sends a webhook at the end of each call, to all targets of a daemon, as the service would. */
const { world, targets, url, authorization } = forkedWith<{
  world: World
  targets: number
  /** The daemon's, with a slash at the end. */
  url: string
  authorization: string
}>()
const { origin } = new URL(url)
const daemon = new Pool(origin, { connections: 10 })
/** Calls before the newest one that may still end. */
const MAX_OPEN = 2000
const TICK_MS = 100

/** The calls of each app whose ends are to come, by the second. */
const ends = new Map<number, { target: number; sessionId: string }[]>()
const planned = new Map<number, number>()
let sent = 0
let from = Math.floor(Date.now() / 1000)

function plan(now: number): void {
  for (let target = 0; target < targets; target++) {
    const own = worldOfApp(world, target)
    const newest = newestCall(own, now)
    for (let n = (planned.get(target) ?? newest - MAX_OPEN) + 1; n <= newest; n++) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the call as it is in the end
      const { sessionId, endedAt } = callAt(own, n, Infinity) as { sessionId: string; endedAt: number }
      if (endedAt < from) continue
      const others = ends.get(endedAt)
      if (others === undefined) ends.set(endedAt, [{ target, sessionId }])
      else others.push({ target, sessionId })
    }
    planned.set(target, newest)
  }
}

async function send({ target, sessionId }: { target: number; sessionId: string }): Promise<void> {
  const body = JSON.stringify({ trigger: 'call_ended', data: { sessionId } })
  const headers = { authorization, 'content-type': 'application/json' }
  const answered = await daemon.request({ method: 'POST', path: `/hooks/app-${target}`, headers, body })
  await answered.body.dump()
  if (answered.statusCode !== 200) throw new Error(`a webhook was answered with ${answered.statusCode}`)
  sent += 1
}

setInterval(() => {
  const now = Date.now() / 1000
  plan(now)
  for (; from <= now; from++) {
    for (const end of ends.get(from) ?? []) void send(end)
    ends.delete(from)
  }
}, TICK_MS)

answer(() => ({ sent }))
