import type { Clock } from '../../clock/clock.ts'
import { DeliveryError } from '../../network/delivery-error.ts'
import type { Failure } from '../../views/receiver-status.ts'

const FIRST_DELAY_SECONDS = 1
/**
 * The longest waits (seconds): the delay that callwatch chooses, and the one that the receiver requests. They are short,
 * because alerts are waiting.
 */
const LONGEST = {
  message: { delay: 300, retryAfter: 3600 },
  /** Alertmanager would resolve alerts that are not refreshed. */
  state: { delay: 60, retryAfter: 60 },
} as const

/** The subject of a pause of all that is delivered to a receiver. */
const EVERYTHING = ''

/** What a bug counts as. */
const BUG = new DeliveryError('internal error', { retryable: true, mayHaveArrived: true })

/** The outcome of one attempt to deliver. */
export type Attempt = {
  /** `retried`: callwatch sends it again. `dropped`: the receiver refused it permanently, and it is not sent again. */
  outcome: 'sent' | 'retried' | 'dropped'
  /** Why the attempt failed; of one that succeeded, why the receiver refused what it is offered again. */
  problem?: string
  /** Of one that failed: whether the message may have arrived anyway. */
  mayHaveArrived?: boolean
  /** Of one that the receiver refused: whether it has accepted others since it first refused this. */
  acceptsOthers?: boolean
  /** In how many seconds the next attempt is due; of one that succeeded, that to send what was refused. */
  retryIn?: number
  /** A bug that made the attempt fail. */
  error?: unknown
}

export type Attempts = ReturnType<typeof attemptsOn>

/** What is delivered. */
type What = {
  /** What pauses if the receiver refuses it, such as the key of a group; default: everything. */
  subject?: string
  /** Whether it is dropped if the receiver refuses it; default: no. */
  drops?: boolean
  /** The alerts in it. */
  ids?: readonly string[]
}

/** A refused alert: what pauses for it, and why. */
type Refused = { subject: string; problem: string }

/**
 * The attempts to deliver to one receiver. After failures it pauses longer and longer, or for as long as the receiver
 * requests. What the receiver refuses pauses for the longest delay, or at first until it accepts another message; other messages
 * do not, since they may be accepted. Refused alerts are offered again one at a time, so that one that it cannot take keeps back no
 * other, until it accepts one of them.
 *
 * @param of what is delivered
 */
export function attemptsOn(clock: Clock, of: 'message' | 'state' = 'message') {
  const longest = LONGEST[of]
  let failures = 0
  const pauses = newPauses(clock)
  /** The alerts that the receiver has refused, in the order in which those of a group are offered again. */
  const refused = new Map<string, Refused>()
  /** Refused alerts since whose refusal the receiver has accepted others. */
  const outlived = new Set<string>()

  const acceptance = (ids: readonly string[]) => ids.some((id) => outlived.has(id)) && { acceptsOthers: true }

  function failed(error: unknown, { subject = EVERYTHING, drops = false, ids = [] }: What): Attempt {
    const isBug = !(error instanceof DeliveryError)
    const { message: problem, retryable, retryAfter, mayHaveArrived } = isBug ? BUG : error
    failures += 1
    if (retryable) {
      const delay = retryAfter || Math.min(longest.delay, FIRST_DELAY_SECONDS * 2 ** (failures - 1))
      const retryIn = Math.min(delay, longest.retryAfter)
      pauses.begin(EVERYTHING, retryIn)
      return { outcome: 'retried', problem, mayHaveArrived, retryIn, ...(isBug && { error }) }
    }
    failures = 0
    const why = { problem, mayHaveArrived, ...acceptance(ids) }
    if (drops || (mayHaveArrived && of === 'message')) return { outcome: 'dropped', ...why }
    pauses.begin(subject, longest.delay)
    for (const id of ids) {
      refused.delete(id)
      refused.set(id, { subject, problem })
    }
    return { outcome: 'retried', ...why, retryIn: longest.delay }
  }

  /** Ends the first pause of what was refused. Refused once more, it waits for the whole delay. */
  function accepted({ ids = [] }: What): Attempt {
    failures = 0
    for (const [id, { subject }] of refused) {
      if (!outlived.has(id)) pauses.end(subject)
      outlived.add(id)
    }
    // If one of these was refused before, perhaps the receiver now accepts the rest as well.
    if (ids.some((id) => refused.has(id))) refused.clear()
    const [first] = [...refused.values()].toSorted((a, b) => pauses.left(a.subject) - pauses.left(b.subject))
    if (first === undefined) return { outcome: 'sent' }
    return { outcome: 'sent', problem: first.problem, retryIn: pauses.left(first.subject) }
  }

  return {
    /** @param subject as it was given to `attempt` */
    isPaused: (subject = EVERYTHING) => pauses.left(EVERYTHING) > 0 || pauses.left(subject) > 0,
    /** What of a group may be sent now: the alerts that were not refused, together, and one that was. */
    offered: <Alert>(subject: string, alerts: ReadonlyMap<string, Alert>): Alert[][] => {
      const again = pauses.left(subject) > 0 ? undefined : refused.keys().find((id) => alerts.has(id))
      const others = [...alerts].flatMap(([id, alert]) => (refused.has(id) ? [] : [alert]))
      return [others, again === undefined ? [] : [alerts.get(again)!]].filter((part) => part.length > 0)
    },
    /** Forgets refused alerts that do not wait any more. */
    keepRefused: (waiting: ReadonlySet<string>): void => {
      for (const ids of [refused, outlived]) for (const id of ids.keys()) if (!waiting.has(id)) ids.delete(id)
    },
    /**
     * Never rejects. After a bug it is retried as well: no message may be lost for that. What is refused is retried because
     * the receiver may be the cause, such as a webhook that was rotated; it is dropped if some recipients have got it, or by choice.
     */
    attempt: (work: () => Promise<unknown>, what: What = {}): Promise<Attempt> =>
      Promise.try(work).then(
        () => accepted(what),
        (error: unknown) => failed(error, what),
      ),
  }
}

/** Pauses by subject. */
function newPauses({ monotonic }: Pick<Clock, 'monotonic'>) {
  /** When each ends (monotonic seconds). */
  const ends = new Map<string, number>()
  /** How long a pause still lasts (seconds); 0 without one. */
  const left = (subject: string) => Math.max(0, (ends.get(subject) ?? -Infinity) - monotonic())
  return {
    left,
    begin: (subject: string, seconds: number): void => {
      for (const other of ends.keys()) if (left(other) === 0) ends.delete(other)
      ends.set(subject, monotonic() + seconds)
    },
    end: (subject: string) => void ends.delete(subject),
  }
}

/** Whether nothing that the receiver refused is offered to it again, and it accepts others. */
const isFine = ({ outcome, problem = '', acceptsOthers }: Attempt) =>
  outcome === 'sent' ? problem === '' : outcome === 'dropped' && acceptsOthers === true

/**
 * Which receivers nothing can be delivered to, and which ones refuse some messages only, as this daemon has seen it.
 *
 * @param mask removes secrets
 */
export function deliveryFailures({ wall }: Pick<Clock, 'wall'>, mask: (text: string) => string) {
  const failures = new Map<string, Failure>()
  return {
    note: (attempt: Attempt & { receiver: string }): void => {
      const { receiver, outcome, problem = '', acceptsOthers = false, retryIn } = attempt
      if (isFine(attempt)) return void failures.delete(receiver)
      const next = retryIn !== undefined && { next: wall() + retryIn }
      const before = outcome === 'sent' ? undefined : failures.get(receiver)?.since
      const since = before ?? (outcome === 'sent' || acceptsOthers ? undefined : wall())
      failures.set(receiver, { ...(since !== undefined && { since }), problem: mask(problem), ...next })
    },
    of: (receiver: string) => failures.get(receiver),
    /** Call it when another configuration of the receiver becomes active. */
    forget: (receiver: string): void => void failures.delete(receiver),
  }
}
