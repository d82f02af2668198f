import { fastify } from 'fastify'

import type { Keys } from './admission.ts'
import { answer } from './answer.ts'
import { addBurst, type Burst } from './arrivals.ts'
import { addControl, defaultOutcomes } from './control.ts'
import { expectedCalls, type ExpectedCall, type CountOptions } from './counted-calls.ts'
import { deliver } from './deliver.ts'
import { failureRatio, type FailureRatio } from './failure-ratio.ts'
import type { LedgerEvent } from './ledger.ts'
import type { RecordedResponse } from './responses.ts'
import type { Series } from './series.ts'
import { createService, heal, rotateKey, setSwitches, type CallsService, type ServiceOptions } from './service.ts'
import { setAside, type SetAside } from './set-aside.ts'
import type { Switches } from './switches.ts'
import { expectedSeries } from './expected-series.ts'
import { advance } from './world.ts'

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
  /** Every exact series that a correct daemon exports; `now` is the clock's where it is not given. */
  expectedSeries: (options: Omit<CountOptions, 'now'> & { now?: number }) => Series
  /** What happened to each call by itself, until `now`. */
  expectedCalls: (now?: number) => Map<string, ExpectedCall>
  /** The calls whose expected series depend on when one polls, by the reason. */
  setAside: () => SetAside
  /** The failure ratio of the window from `from` to `now`. */
  failureRatio: (options: Omit<CountOptions, 'now'> & { from: number; now?: number }) => FailureRatio
  /** Additional calls, beginning evenly over `seconds` from now on; rejected and unanswered ones by default. */
  burst: (burst: Omit<Burst, 'outcomes'> & Partial<Burst>) => void
  switches: () => Switches
  /** @throws RangeError naming the switch that is unknown or has no such value */
  setSwitches: (patch: Partial<Switches>) => void
  /** Ends every fault, oddity and movement; what has happened stays. */
  heal: () => void
  /** Makes another key valid, a random one by default, and the old one unknown; returns the new one. */
  rotateKey: (key?: string) => string
  /** How often each fault, order, oddity and event really happened; see `Reached`. */
  reached: () => Record<string, number>
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
    advance(service.world, at, service.switches)
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
    expectedSeries: (wanted) => expectedSeries(ledger(), { now: clock(), ...wanted }),
    expectedCalls: (at) => expectedCalls(ledger(), at ?? clock()),
    setAside: () => setAside(ledger()),
    failureRatio: (wanted) => failureRatio(ledger(), { now: clock(), ...wanted }),
    burst: (burst) => addBurst(service.world, now(), { outcomes: defaultOutcomes, ...burst }),
    switches: () => service.switches,
    setSwitches: (patch) => {
      now()
      setSwitches(service, patch)
    },
    heal: () => {
      now()
      heal(service)
    },
    rotateKey: (key) => rotateKey(service, key),
    reached: () => {
      now()
      return Object.fromEntries(service.world.reached)
    },
    close: () => app.close(),
  }
}

function createApp(service: CallsService, clock: () => number) {
  const app = fastify({ forceCloseConnections: true })
  // Bodies are read as text, whatever their type: the service reads none, the control endpoints parse their own.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  addControl(app, service, clock)
  app.all('/v3/*', (request, reply) => {
    const [path, query = ''] = request.raw.url!.split(/\?(.*)/s)
    const answered = answer(service, { method: request.method, path: path!, query, headers: request.headers }, clock())
    reply.hijack()
    const send = () => deliver(answered.reply, reply.raw, answered.response)
    if (service.switches.answerSeconds === 0) send()
    else setTimeout(send, service.switches.answerSeconds * 1000).unref()
  })
  return app
}
