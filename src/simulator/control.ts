import type { FastifyInstance } from 'fastify'

import { addBurst, type Burst } from './arrivals.ts'
import { finalStatuses } from './call.ts'
import { heal, rotateKey, type CallsService } from './service.ts'
import { patchSwitches } from './switches.ts'
import { advance } from './world.ts'

const MAX_BURST_CALLS = 10_000

/** How the calls of a burst end by default. */
export const defaultOutcomes: Burst['outcomes'] = { rejected: 1, unanswered: 1 }

/** The simulator's own endpoints, under `/_simulator/`: no part of the calls service. */
export function addControl(app: FastifyInstance, service: CallsService, clock: () => number): void {
  const now = (): number => {
    const at = clock()
    advance(service.world, at, service.switches)
    return at
  }

  app.get('/_simulator/ledger', () => ({ now: now(), events: service.world.ledger }))

  app.get('/_simulator/responses', () => {
    const { dropped, responses } = service.recorder
    return { dropped, responses }
  })

  app.get('/_simulator/switches', () => service.switches)

  app.post('/_simulator/switches', (request, reply) => {
    const result = patchSwitches(service.switches, parsed(request.body))
    if ('problem' in result) return reply.code(400).send({ error: { code: 'ERR_SWITCHES', message: result.problem } })
    now()
    service.switches = result.switches
    return service.switches
  })

  app.get('/_simulator/reached', () => {
    now()
    return Object.fromEntries(service.world.reached)
  })

  app.post('/_simulator/heal', () => {
    now()
    heal(service)
    return service.switches
  })

  app.post('/_simulator/rotate-key', (request, reply) => {
    const body = parsed(request.body)
    const asked = typeof body === 'object' && body !== null && 'apiKey' in body ? body.apiKey : undefined
    if (asked !== undefined && (typeof asked !== 'string' || asked === '')) {
      const message = 'apiKey: expected a text that is not empty, or none for a random one'
      return reply.code(400).send({ error: { code: 'ERR_KEY', message } })
    }
    return { apiKey: rotateKey(service, asked) }
  })

  app.post('/_simulator/burst', (request, reply) => {
    const burst = burstOf(parsed(request.body))
    if (typeof burst === 'string') return reply.code(400).send({ error: { code: 'ERR_BURST', message: burst } })
    addBurst(service.world, now(), burst)
    return burst
  })
}

function parsed(body: unknown): unknown {
  try {
    return JSON.parse(String(body))
  } catch {
    return undefined
  }
}

/** The burst, or what is wrong with it. */
function burstOf(body: unknown): Burst | string {
  if (typeof body !== 'object' || body === null) return 'expected {"calls": n, "seconds": s, "outcomes": {...}}'
  const { calls, seconds, outcomes = defaultOutcomes } = body as Partial<Burst>
  if (!Number.isInteger(calls) || calls! < 1 || calls! > MAX_BURST_CALLS) {
    return `calls: expected a whole number from 1 to ${MAX_BURST_CALLS}`
  }
  if (typeof seconds !== 'number' || !(seconds >= 0)) return 'seconds: expected a number of 0 or more'
  const weights = Object.entries(outcomes)
  const known = weights.every(
    ([name, weight]) => finalStatuses.some((status) => status === name) && typeof weight === 'number' && weight >= 0,
  )
  if (!known || !weights.some(([, weight]) => weight > 0)) {
    return `outcomes: expected weights of 0 or more, one at least above 0, of ${finalStatuses.join(', ')}`
  }
  return { calls: calls!, seconds, outcomes }
}
