import * as z from 'zod'
import { isoTime } from '../../clock/times.ts'
import { count, namedObject, seconds, time } from '../shapes.ts'

/** A webhook of events, and how far it is. */
export const webhook = namedObject('Webhook', {
  name: z.string(),
  state: z.enum(['delivering', 'failing', 'paused', 'removed']),
  pending: count,
  oldest_pending_seconds: seconds.optional(),
  dead_letters: count,
  problem: z.string().optional(),
  failing_since: time.optional(),
  last_delivered: time.optional(),
  removed_at: time.optional(),
})
export type WebhookView = z.output<typeof webhook>

/** A webhook, and its progress. Times are UNIX seconds by the host's clock. */
type Webhook = {
  name: string
  progress: {
    paused?: string
    removedAt?: number
    deliveredAt?: number
    failingSince?: number | undefined
    problem?: string | undefined
  }
  /** How many dead letters it has. */
  dead: number
}

/**
 * @param waiting how many events wait for it, and since when the oldest does
 * @param now the host's clock (both UNIX seconds)
 */
export function webhookView(
  { name, progress, dead }: Webhook,
  { pending, since }: { pending: number; since: number | undefined },
  now: number,
): WebhookView {
  const { paused, problem, removedAt, deliveredAt, failingSince } = progress
  return {
    name,
    state: webhookState(progress),
    pending,
    ...(since !== undefined && { oldest_pending_seconds: Math.max(0, now - since) }),
    dead_letters: dead,
    ...((paused ?? problem) !== undefined && { problem: paused ?? problem }),
    ...(failingSince !== undefined && { failing_since: isoTime(failingSince) }),
    ...(deliveredAt !== undefined && { last_delivered: isoTime(deliveredAt) }),
    ...(removedAt !== undefined && { removed_at: isoTime(removedAt) }),
  }
}

function webhookState({ paused, removedAt, failingSince }: Webhook['progress']): WebhookView['state'] {
  if (removedAt !== undefined) return 'removed'
  if (paused !== undefined) return 'paused'
  return failingSince === undefined ? 'delivering' : 'failing'
}

/** The dead letters of a webhook. */
export const deadLetters = z.object({
  dead_letters: z.array(z.object({ id: z.string(), attempts: count, problem: z.string() })),
})

export function deadLettersView(
  dead: readonly { id: string; place: number; attempts: number; problem?: string }[],
): z.output<typeof deadLetters> {
  const letters = dead.map(({ id, place, attempts, problem = '' }) => ({ id: `${id}-${place}`, attempts, problem }))
  return { dead_letters: letters }
}
