import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import { horizon } from '../ledger/horizon.ts'
import { skewInUse } from '../polling/clock-skew.ts'
import { callsClient, type CallsClient } from '../service/calls-client.ts'
import type { Transport } from '../service/transport.ts'
import { undiciTransport } from '../service/undici-transport.ts'
import type { Target, TargetSettings } from './target.ts'

export type ConnectionOptions = {
  ownership: Pick<Ownership, 'owns'>
  clock: Clock
  log: Logger
  /** Sends requests to the service; default: by HTTP. */
  transportTo?: (baseUrl: string, maxAnswerBytes: number) => Transport
}

/**
 * Connects to the service for one target, with its key and settings.
 *
 * @param loaded the target, as it is loaded now
 */
export function connect(
  { target, poll, participants = false }: TargetSettings,
  loaded: () => Pick<Target, 'ledger' | 'memory'>,
  { ownership, clock, log, transportTo = undiciTransport }: ConnectionOptions,
): CallsClient {
  const { name } = target
  const logUnknown = unknownLog(log, name)
  const send = transportTo(target.baseUrl, poll.maxAnswerBytes)
  // A process that was suspended for longer than its lease must not continue with its poll.
  const sendWhileOwned: Transport = (request) =>
    ownership.owns(name) ? send(request) : Promise.reject(new Error('the target may now be polled by another daemon'))
  return callsClient(sendWhileOwned, {
    ...target,
    ...poll,
    participants,
    wall: clock.wall,
    clockSkew: () => skewInUse(loaded()),
    known: (session, times) => loaded().ledger.calls.withTimes(session, times),
    identify: (rows, now, source) => {
      const { ledger, memory } = loaded()
      // Before the first commit, nothing is too old: `created` is by the host's clock.
      const oldest = ledger.sync.clockSkew === undefined ? -Infinity : horizon(ledger.sync, poll.lookback)
      memory.identities.identify(rows, ledger, oldest, { now, source })
      memory.shownOpen.note(rows, now)
    },
    onUnknown: (field, text) => {
      if (field === 'time') loaded().memory.unreadTime = text
      else logUnknown(field, text)
    },
  })
}

/** The most values that are logged. A broken service must not fill the log. */
const MAX_VALUES = 100

/** Logs each undocumented value of a field the first time that it occurs. */
function unknownLog(log: Logger, target: string) {
  const logged = new Set<string>()
  return (field: string, text: string): void => {
    const value = text.slice(0, 100)
    const key = `${field}=${value}`
    if (logged.has(key) || logged.size >= MAX_VALUES) return
    logged.add(key)
    log.warn({ target, field, value }, `the service sent an undocumented ${field}, which is counted as other: ${value}`)
  }
}
