import { fastify } from 'fastify'

import type { Keys } from './authorize.ts'
import { addControl, defaultOutcomes } from './control.ts'
import type { TruthOptions } from './counted-calls.ts'
import { createService, setSwitches } from './create-service.ts'
import type { ServiceOptions } from './create-service.ts'
import { deliver } from './deliver.ts'
import { failureRatio } from './failure-ratio.ts'
import type { FailureRatio } from './failure-ratio.ts'
import type { LedgerEvent } from './ledger.ts'
import type { RecordedResponse } from './responses.ts'
import type { Series } from './series.ts'
import { answer } from './service.ts'
import type { CallsService } from './service.ts'
import type { Switches } from './switches.ts'
import { truth } from './truth.ts'
import { addBurst, advance } from './world.ts'
import type { Burst } from './world.ts'

export type SimulatorOptions = ServiceOptions & {
  /** 0: a free one. */
  port?: number
  /** Seconds since 1970, with fractions; the host's clock by default. */
  clock?: () => number
}

export type Simulator = {
  /** The calls service's base address, `/v3` included. */
  url: string
  port: number
  keys: Keys
  /** What has happened until now. */
  ledger: () => readonly LedgerEvent[]
  /** What was answered, oldest first. */
  responses: () => readonly RecordedResponse[]
  /** Every exact series that a right daemon exports; `now` is the clock's where it is not given. */
  truth: (options: Omit<TruthOptions, 'now'> & { now?: number }) => Series
  /** The failure ratio of the window from `from` to `now`. */
  failureRatio: (options: Omit<TruthOptions, 'now'> & { from: number; now?: number }) => FailureRatio
  /** Additional calls, beginning evenly over `seconds` from now on; rejected and unanswered ones by default. */
  burst: (burst: Omit<Burst, 'outcomes'> & Partial<Burst>) => void
  switches: () => Switches
  /** @throws RangeError naming the switch that is unknown or has no such value */
  setSwitches: (patch: Partial<Switches>) => void
  /** Ends open connections as well. */
  close: () => Promise<void>
}

/**
 * Starts a calls service on 127.0.0.1 with a world of its own.
 *
 * @throws Error where the port is taken
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const clock = options.clock ?? (() => Date.now() / 1000)
  const service = createService(options, clock())
  const app = createApp(service, clock)
  const address = await app.listen({ host: '127.0.0.1', port: options.port ?? 0 })
  const port = Number(new URL(address).port)

  const now = (): number => {
    const at = clock()
    advance(service.world, at, service.switches.arrivals)
    return at
  }
  const ledger = (): readonly LedgerEvent[] => {
    now()
    return service.world.ledger
  }
  return {
    url: `${address}/v3`,
    port,
    keys: service.keys,
    ledger,
    responses: () => service.recorder.responses,
    truth: (wanted) => truth(ledger(), { now: clock(), ...wanted }),
    failureRatio: (wanted) => failureRatio(ledger(), { now: clock(), ...wanted }),
    burst: (burst) => addBurst(service.world, now(), { outcomes: defaultOutcomes, ...burst }),
    switches: () => service.switches,
    setSwitches: (patch) => {
      now()
      setSwitches(service, patch)
    },
    close: () => app.close(),
  }
}

function createApp(service: CallsService, clock: () => number) {
  const app = fastify({ forceCloseConnections: true })
  // Bodies are taken as text, whatever they are called: the service reads none, the control endpoints parse their own.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  addControl(app, service, clock)
  app.all('/v3/*', (request, reply) => {
    const [path, query = ''] = request.raw.url!.split(/\?(.*)/s)
    const answered = answer(service, { method: request.method, path: path!, query, headers: request.headers }, clock())
    reply.hijack()
    deliver(answered.reply, reply.raw, answered.response)
  })
  return app
}
