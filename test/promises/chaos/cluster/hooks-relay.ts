import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Series } from '../../../../src/simulator/expected/expected-series.ts'
import { hintsIn, parseExposition, sumOf } from '../../../kit/replay/exposition.ts'
import { row, type Row } from '../promise-rows.ts'
import type { ClusterRun } from './cluster-run.ts'

export const HOOKS_USER = 'vendor'
export const HOOKS_PASSWORD = 'chaos-hooks-2b7e49d10c8f'
/** Most webhooks come, but a fifth of them do not. */
export const WEBHOOK_FAULT = { lost: 0.2, late: 0.1, twice: 0.1, reordered: 0.1, other_app: 0.1, forged: 0.1 }

/** How long a daemon has to pass a webhook on (milliseconds). */
const PASS_MS = 2000
const TIMEOUT_MS = 2000

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

/**
 * Webhooks were taken, and no end counts as missed whose webhook came.
 *
 * @param texts what each daemon exports
 */
export function hooksRow(texts: readonly string[], mayBeMissed: number): Row {
  const all = texts.map((text) => parseExposition(text))
  const sum = (count: (exported: Series) => number) => all.reduce((before, exported) => before + count(exported), 0)
  const ends = (announced: string) =>
    sum((exported) => sumOf(exported, new RegExp(`^callwatch_service_webhook_ends_total\\{announced="${announced}"`)))
  const hints = sum(hintsIn)
  return row(
    'no end counts as missed whose webhook came',
    `${hints} hints; ${ends('yes')} ends announced, ${ends('no')} missed of ${mayBeMissed} lost`,
    hints > 0 && ends('no') <= mayBeMissed,
  )
}
