import { notificationOf } from '../../../src/alerts/notification.ts'
import type { FinalStatus, SeenCall } from '../../../src/ledger/call.ts'
import { computeDelta } from '../../../src/ledger/delta/compute-delta.ts'
import { applyDelta } from '../../../src/ledger/state.ts'
import type { Store } from '../../../src/store/store.ts'
import { RATIO } from '../alerts/sample-rules.ts'
import { completePoll, CREATED, seen } from '../ledger/seen.ts'
import { commitOf, DAY, instance, NO_ALERTS } from '../store/place.ts'

/*
 * An October in Berlin, where the clocks change on the 25th: of one target the four days before it are known, and another one was set up
 * in it.
 */

export const ZONE = 'Europe/Berlin'
/** When the report is made (UNIX seconds). */
export const NOW = unix('2026-11-03T11:00:00Z')
export const OCTOBER = { since: '2026-09-30T22:00:00.000Z', until: '2026-10-31T23:00:00.000Z' }

const SET_UP = {
  // Known from 27 September on.
  production: { created: unix(OCTOBER.since), lookback: 4 * DAY },
  // Known from noon of the 19th on.
  staging: { created: unix('2026-10-20T10:00:00Z'), lookback: DAY },
} as const
export type Name = keyof typeof SET_UP
export const NAMES = ['production', 'staging'] as const

export type Call = { target: Name; endedAt: number; status: FinalStatus; minutes: number; seconds: number }

/** What the service lists: some calls each day, more on some, and those next to the ends of the month and the change of the clocks. */
function listed(target: Name): Call[] {
  const first = unix('2026-09-25T10:00:00Z')
  const daily = Array.from({ length: 38 }, (_, day) =>
    Array.from({ length: 3 + (day % 4) + (target === 'production' ? 2 : 0) }, (_, i): Call => {
      const status = (['ended', 'ended', 'rejected', 'ended', 'unanswered', 'ended', 'canceled'] as const)[
        (day + i) % 7
      ]!
      const seconds = status === 'ended' ? 60 * (1 + ((day * 3 + i) % 9)) : 0
      return { target, endedAt: first + day * DAY + i * 700, status, minutes: (2 * seconds) / 60, seconds }
    }),
  ).flat()
  const moments = [
    '2026-09-30T22:30:00Z',
    '2026-10-25T00:30:00Z',
    '2026-10-25T01:30:00Z',
    '2026-10-31T22:30:00Z',
    '2026-10-31T23:30:00Z',
  ]
  const others = moments.map((at): Call => ({ target, endedAt: unix(at), status: 'ended', minutes: 10, seconds: 300 }))
  return [...daily, ...others]
}

/** All calls that callwatch counts. */
export const CALLS: readonly Call[] = NAMES.flatMap(listed).filter(({ target, endedAt }) => {
  const { created, lookback } = SET_UP[target]
  return endedAt >= created - lookback
})

/** Fills an empty store with the targets and their calls, and with an alert of two hours. */
export async function fillOctober(store: Store): Promise<void> {
  for (const name of NAMES) {
    const { created, lookback } = SET_UP[name]
    const { ledger } = await store.openTarget({ name, fingerprint: name }, created, DAY)
    const calls = listed(name).map(seenOf)
    const delta = computeDelta(ledger, completePoll(NOW - CREATED, ...calls), {
      lookback,
      baseline: 'count',
      details: 'missing',
    })!
    const since = unix('2026-10-12T08:00:00Z')
    const alert = { ...instance, rule: RATIO, key: RATIO.name, firingSince: since }
    const ended = { kind: 'resolved' as const }
    const changes = [notificationOf(ended, { target: name, instance: alert }, since + 7200)]
    await store.commit(name, commitOf(delta, name === 'production' ? { alerts: NO_ALERTS, changes } : {}))
    applyDelta(ledger, delta, DAY)
  }
}

function seenOf({ endedAt, status, minutes, seconds }: Call, i: number): SeenCall {
  const startedAt = status === 'ended' ? endedAt - seconds : undefined
  return seen(`v1.${i}`, status, {
    initiatedAt: endedAt - seconds - 5,
    startedAt,
    endedAt,
    totalParticipants: status === 'ended' ? 3 : 0,
    invited: invitedTo(status),
    callMinutes: { audio: seconds / 60, video: 0, total: undefined },
    participantMinutes: { audio: minutes / 2, video: minutes / 2, total: undefined },
  })
}

/** Nobody joins a call that fails; of some statuses it is not known. */
const invitedTo = (status: FinalStatus) =>
  status === 'canceled' ? undefined : status === 'ended' ? { joined: 2, absent: 1 } : { joined: 0, absent: 3 }

/** What these calls are in a report: the plain way. */
export function plainOf(calls: readonly Call[]) {
  const of = (status: FinalStatus) => calls.filter((call) => call.status === status).length
  const failed = of('unanswered') + of('rejected') + of('canceled')
  return {
    calls: calls.length,
    failed,
    invited: {
      joined: 2 * of('ended'),
      absent: of('ended') + 3 * (of('unanswered') + of('rejected')),
      unknown: of('canceled'),
    },
    participantMinutes: calls.reduce((sum, { minutes }) => sum + minutes, 0),
    userMinutes: calls.reduce((sum, { seconds }) => sum + (3 * seconds) / 60, 0),
  }
}

/** The calls that finished in a period (ISO 8601), of these targets. */
export function callsIn({ since, until }: { since: string; until: string }, ...targets: readonly Name[]): Call[] {
  return CALLS.filter(
    ({ target, endedAt }) => targets.includes(target) && endedAt >= unix(since) && endedAt < unix(until),
  )
}

export function unix(iso: string): number {
  return Date.parse(iso) / 1000
}
