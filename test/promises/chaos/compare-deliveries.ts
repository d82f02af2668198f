import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Store } from '../../../src/store/store.ts'
import { deliveryProblems, leftBy } from '../../kit/events/delivery-problems.ts'
import { readLog } from '../../kit/events/event-problems.ts'
import type { FailingWebhook } from './failing-webhook.ts'
import { row, type Row } from './promise-rows.ts'

/** Whether a receiver got every event that is not listed as undelivered, at least once, and those of each call in their order. */
export async function deliveriesRow(
  webhook: FailingWebhook,
  store: Pick<Store, 'events' | 'latestEvents' | 'webhooks' | 'undelivered'>,
): Promise<Row> {
  const log = await readLog(store)
  const left = await leftBy(store, 'chaos')
  const problems = [...webhook.problems, ...deliveryProblems(log, webhook.processed, left)]
  const distinct = new Set(webhook.processed.map(({ id }) => id)).size
  const repeated = webhook.processed.length - distinct
  return row(
    'a webhook gets every event, in order for each call',
    `${distinct} of ${log.length} events, ${left.size} left, ${repeated} repeated`,
    problems.length === 0 && log.length > 0 && left.size <= MOST_LEFT,
    problems,
  )
}

/** Events that come between the moment at which nothing was left and the end of the daemon. */
const MOST_LEFT = 20

const MAIN = join(import.meta.dirname, '../../../src/main.ts')

/** How long a pause may not be in the store yet. */
const SAVED_WITHIN_MS = 2000

/** Somebody sees that the webhook is paused, and resumes it. */
export async function resumeWebhook(config: string): Promise<void> {
  await wait(SAVED_WITHIN_MS)
  const command = spawn(process.execPath, [MAIN, 'events', 'webhooks', 'resume', 'chaos', '--config', config])
  const [errors, [code]] = await Promise.all([text(command.stderr), once(command, 'exit')])
  if (code !== 0) throw new Error(`the webhook was not resumed: ${errors}`)
}
