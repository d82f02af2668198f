import type { Notification } from '../../../../src/alerts/notification.ts'
import type { WaitingAlert } from '../../../../src/notifications/delivery/waiting-alert.ts'
import { AT, changeOf } from '../../../kit/notifications/delivery/sending.ts'

type Setting = { name?: string; seconds?: number; breach?: 'above' | 'below' }

/** An alert of which only this change waits. */
export const waitingOf = (content: Notification): WaitingAlert => ({ entries: [{ id: 0, claimed: false, content }] })

/**
 * Changes of an alert that wait, a minute apart: `f` firing, `m` a reminder, `r` resolved, `c` expired; a capital was claimed.
 * The latest was a minute ago.
 */
export function waiting(changes: string, { name = 'A', seconds = 60, breach = 'above' }: Setting = {}): WaitingAlert {
  const kinds = { f: 'firing', m: 'reminder', r: 'resolved', c: 'expired' } as const
  let known: Pick<Notification, 'since' | 'firingSince' | 'peak'> | undefined
  const all = changes.split('').map((change, i) => {
    const at = AT - seconds * (changes.length - i)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const kind = kinds[change.toLowerCase() as keyof typeof kinds]
    if (kind === 'firing') known = { since: at, firingSince: at, peak: (i + 1) / 10 }
    return changeOf({ name }, kind, at, known, { breach })
  })
  const isClaimed = (change: string) => change !== change.toLowerCase()
  return { entries: all.map((content, i) => ({ id: i + 1, content, claimed: isClaimed(changes[i]!) })) }
}
