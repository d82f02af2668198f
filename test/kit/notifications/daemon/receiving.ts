import { firstValueFrom, timer } from 'rxjs'
import type { Clock } from '../../../../src/clock/clock.ts'
import { DeliveryError } from '../../../../src/network/delivery-error.ts'
import type { Message } from '../../../../src/notifications/message.ts'
import type { Send } from '../../../../src/notifications/receiver.ts'

/**
 * What a receiver does with a message. `lost`: it arrives, and its answer is lost. `lostgone`: it does not arrive, and the sender knows as
 * little. `down`: nothing is listening. `hang`: it arrives, and the sender gives up after so many seconds. `retryAfter`: a 429 that asks for so many seconds.
 */
export type Mode = 'ok' | 'refuse' | 'error' | 'lost' | 'lostgone' | 'down' | { hang: number } | { retryAfter: number }

/** Which messages are meant: those about a rule, or edits; default: all. */
export type Only = { rule?: string; edits?: true }

const ERRORS = {
  refuse: { text: 'it refused the message with 404', retryable: false, status: 404 },
  error: { text: 'it answered 500', retryable: true, status: 500 },
  lost: { text: 'it did not answer within 8 s', retryable: true, mayHaveArrived: true },
  lostgone: { text: 'it did not answer within 8 s', retryable: true, mayHaveArrived: true },
  down: { text: 'it could not be reached: ECONNREFUSED', retryable: true },
} as const

function failure(mode: keyof typeof ERRORS): DeliveryError {
  const { text, ...how } = ERRORS[mode]
  return new DeliveryError(text, how)
}

/** How the receivers answer, by their names. It outlives the daemon's process. */
export function answering(clock: Clock) {
  const modes = new Map<string, { mode: Mode; only: Only }[]>()

  function modeFor(name: string, message: Message): Mode {
    const found = modes.get(name)?.findLast(({ only }) => isMeant(message, only))
    return found?.mode ?? 'ok'
  }

  return {
    answers: (name: string, mode: Mode, only: Only = {}): void => {
      const others = (modes.get(name) ?? []).filter((one) => JSON.stringify(one.only) !== JSON.stringify(only))
      const isAll = mode === 'ok' && Object.keys(only).length === 0
      modes.set(name, isAll ? [] : [...others, { mode, only }])
    },
    /** Answers as the receiver does now. @param arrive the message reaches the receiver */
    answer: async (name: string, message: Message, arrive: Send): ReturnType<Send> => {
      const mode = modeFor(name, message)
      if (mode === 'ok') return arrive(message)
      if (typeof mode === 'object' && 'hang' in mode) {
        await arrive(message)
        await firstValueFrom(timer(mode.hang * 1000, clock.scheduler))
        throw failure('lost')
      }
      if (typeof mode === 'object')
        throw new DeliveryError('it answered 429', { retryable: true, status: 429, retryAfter: mode.retryAfter })
      if (mode === 'lost') await arrive(message)
      throw failure(mode)
    },
  }
}

function isMeant(message: Message, { rule, edits }: Only): boolean {
  if (edits === true && !(message.kind === 'alerts' && message.about === 'edit')) return false
  if (rule === undefined) return true
  if (message.kind !== 'alerts') return false
  const changes = [...message.alerts, ...message.flapped, ...message.unchanged].map(({ notification }) => notification)
  return (
    message.group.alert === rule || [...changes, ...(message.incident?.firing ?? [])].some((one) => one.alert === rule)
  )
}
