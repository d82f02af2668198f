import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { LedgerState } from '../ledger/state.ts'
import { callsClient, type CallsClient } from '../service/calls-client.ts'
import type { Transport } from '../service/transport.ts'
import { undiciTransport } from '../service/undici-transport.ts'
import type { TargetSettings } from './target.ts'

/** How the service is asked about one target: with its key, and as its settings say. */
export type ServiceConnection = { settings: TargetSettings; client: CallsClient; close: () => Promise<void> }

export type ConnectionOptions = {
  settings: TargetSettings
  /** What is known of the target at the moment. */
  ledger: () => LedgerState
  clock: Clock
  /** Whether the service may be asked at this very moment. */
  mayAsk: () => boolean
  log: Logger
  /** How the service is reached; by HTTP unless said otherwise. */
  transportTo?: (baseUrl: string, maxAnswerBytes: number) => { send: Transport; close: () => Promise<void> }
}

export function connect(options: ConnectionOptions): ServiceConnection {
  const { settings, ledger, clock, mayAsk, log, transportTo = undiciTransport } = options
  const { name } = settings.target
  const transport = transportTo(settings.target.baseUrl, settings.poll.maxAnswerBytes)
  const client = callsClient(whileAllowed(transport.send, mayAsk), {
    ...settings.target,
    ...settings.poll,
    participants: settings.participants ?? false,
    wall: clock.wall,
    clockSkew: () => ledger().sync.clockSkew,
    known: (id) => ledger().calls.get(id),
    onUnknown: onceEach((field, value) =>
      log.warn(
        { target: name, field, value },
        `the service sent an undocumented ${field}, which is counted as other: ${value}`,
      ),
    ),
  })
  return { settings, client, close: transport.close }
}

/** A process that was halted for longer than its lease must not continue where it was. */
function whileAllowed(send: Transport, mayAsk: () => boolean): Transport {
  return (request) =>
    mayAsk() ? send(request) : Promise.reject(new Error('the target may be polled by another daemon by now'))
}

/** The most values that are distinguished; a broken service must not fill the log. */
const MAX_VALUES = 100

/** Passes on each pair of values the first time that it comes. */
function onceEach(log: (field: string, value: string) => void): (field: string, value: string) => void {
  const logged = new Set<string>()
  return (field, value) => {
    const start = value.slice(0, 100)
    const key = `${field}=${start}`
    if (logged.has(key) || logged.size >= MAX_VALUES) return
    logged.add(key)
    log(field, start)
  }
}
