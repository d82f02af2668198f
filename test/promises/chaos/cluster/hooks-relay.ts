import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { MARK, type TrackedCall } from '../../../../src/ledger/tracked-call.ts'
import { COUNTERS, seriesKey } from '../../../../src/ledger/series.ts'
import { row, type Row } from '../promise-rows.ts'
import type { ClusterRun } from './cluster-run.ts'

export const HOOKS_USER = 'vendor'
export const HOOKS_PASSWORD = 'chaos-hooks-2b7e49d10c8f'
/** Most webhooks come, but a fifth of them do not. */
export const WEBHOOK_FAULT = { lost: 0.2, late: 0.1, twice: 0.1, reordered: 0.1, other_app: 0.1, forged: 0.1 }

/** How long a daemon has to pass a webhook on (milliseconds). */
const PASS_MS = 2000
const TIMEOUT_MS = 2000
/** How long an end waits for its webhook, and how much later it is counted at most (seconds). */
const WAITING_SECONDS = 60 + 15

/** Takes the webhooks of all services, as a load balancer does, and gives each one to any daemon. */
export type HooksRelay = {
  /** Where the webhooks of a target are sent. */
  address: (target: string) => URL
  /** How many webhooks a daemon accepted shortly before it, another one or the database was interrupted. */
  doubtful: () => number
  close: () => void
}

export async function hooksRelay(run: () => Pick<ClusterRun, 'daemons' | 'interruptions'>): Promise<HooksRelay> {
  let doubtful = 0
  let taken = 0

  async function give(request: IncomingMessage): Promise<number> {
    const { daemons, interruptions } = run()
    const daemon = daemons[taken++ % daemons.length]
    const { authorization = '' } = request.headers
    const headers = { 'content-type': 'application/json', authorization }
    const body = await text(request)
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const answer = await fetch(new URL(request.url!, daemon!.url), { method: 'POST', headers, body, signal })
    if (answer.ok) setTimeout(() => (doubtful += run().interruptions === interruptions ? 0 : 1), PASS_MS).unref()
    return answer.status
  }

  const server = createServer((request, response) => {
    void give(request)
      .catch(() => 502)
      .then((status) => response.writeHead(status).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo
  return {
    address: (target) => new URL(`http://${HOOKS_USER}:${HOOKS_PASSWORD}@127.0.0.1:${port}/hooks/${target}`),
    doubtful: () => doubtful,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** What was counted of the ends of a target. */
export type WebhookCounts = { name: string; counters: ReadonlyMap<string, number>; calls: readonly TrackedCall[] }

/**
 * Each end is counted once by its webhook, and none as missed whose webhook came.
 *
 * @param now UNIX seconds
 */
export function hooksRow(counted: readonly WebhookCounts[], mayBeMissed: number, now: number): Row {
  const sums = { yes: 0, no: 0, unknown: 0 }
  let ends = 0
  const problems: string[] = []
  for (const { name, counters, calls } of counted) {
    const finished = calls.filter(({ finish, marks }) => finish !== undefined && (marks & MARK.overAtSetUp) === 0)
    const marked = finished.filter(({ marks }) => (marks & MARK.endCounted) !== 0)
    const late = finished.filter(
      ({ finish, marks }) => (marks & MARK.endCounted) === 0 && finish!.known < now - WAITING_SECONDS,
    )
    problems.push(
      ...late.map(({ id, finish }) => `${name}: the end of ${id} at ${finish!.at} is not counted at ${now}`),
    )
    let sum = 0
    for (const outcome of ['yes', 'no', 'unknown'] as const) {
      const value = counters.get(seriesKey(COUNTERS.webhookEnds, outcome)) ?? 0
      sums[outcome] += value
      sum += value
    }
    ends += finished.length
    if (sum !== marked.length) problems.push(`${name}: ${sum} ends are counted, and ${marked.length} calls say so`)
  }
  if (sums.no > mayBeMissed) problems.push(`${sums.no} ends count as missed, and only ${mayBeMissed} may be`)
  return row(
    'each end is counted once by its webhook',
    `${sums.yes} of ${ends} announced, ${sums.no} missed of ${mayBeMissed} lost, ${sums.unknown} unknown`,
    problems.length === 0,
    problems,
  )
}
