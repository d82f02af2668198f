import type { Clock } from '../../clock/clock.ts'
import type { Failure } from '../../views/state/receiver-status.ts'
import type { AlertMessage } from '../message.ts'
import { backOff, type BackOff } from './back-off.ts'

/** What the receivers of an account share: the pauses of everything and of all edits. They divide how often it may edit. */
export type Account = ReturnType<typeof newAccount>
export const newAccount = (clock: Clock) => ({ whole: backOff(clock), edits: backOff(clock), members: 1 })

/** The pauses of a receiver of messages, and what is under way to it. They outlive a reload. */
export type Pauses = ReturnType<typeof newPauses>

export function newPauses(clock: Clock, account = newAccount(clock)) {
  const { whole } = account
  const [edits, reports, outage] = [backOff(clock), backOff(clock), backOff(clock)]
  const groups = new Map<string, BackOff>()
  let acceptedAt = -Infinity

  /** What fails, what is due first before the rest. */
  function failing(): BackOff[] {
    const all = [...groups.values(), reports, outage, edits, account.edits].filter((one) => one.failed() !== undefined)
    const first = whole.failed() === undefined ? [] : [whole]
    return [...first, ...all.toSorted((a, b) => a.left() - b.left())]
  }

  const pauses = {
    account,
    /** Of everything. */
    whole,
    edits,
    reports,
    outage,
    /** Of a group. */
    of: (key: string): BackOff => {
      const known = groups.get(key) ?? backOff(clock)
      groups.set(key, known)
      return known
    },
    /** Forgets other groups. */
    keep: (keys: ReadonlySet<string>): void => {
      for (const all of [groups, pauses.tried, pauses.edited])
        for (const key of all.keys()) if (!keys.has(key)) all.delete(key)
    },
    accepted: (): void => void (acceptedAt = clock.wall()),
    /** What fails although something was accepted. */
    stillFails: (): { problem?: string } => {
      const [first] = failing()
      return first === undefined ? {} : { problem: first.failed()!.problem }
    },
    failure: (): Failure | undefined => {
      const all = failing()
      const [first] = all
      if (first === undefined) return undefined
      const { problem } = first.failed()!
      const since = Math.min(...all.map((one) => one.failed()!.since))
      const pending = Math.max(pauses.due, all.filter((one) => ![whole, edits, account.edits].includes(one)).length)
      const next = clock.wall() + first.left()
      return { ...(acceptedAt < since && { since }), problem, next, pending, oldest: since }
    },
    /** The groups whose message is under way, and how many are due. */
    busy: new Set<string>(),
    due: 0,
    /** When each group was tried last, and each incident edited (monotonic seconds). */
    tried: new Map<string, number>(),
    edited: new Map<string, number>(),
    editedAt: -Infinity,
    /** By message, its last edit: it shows that its incident is over, or where it continues. */
    lastEdits: new Map<string, AlertMessage>(),
  }
  return pauses
}
