import { configOf } from '../../../src/config/config.ts'
import { survey } from '../../../src/commands/survey.ts'
import type { Finding } from '../../../src/views/commands/check.ts'
import { collecting, type Exchange } from '../../../src/service/exchange.ts'
import type { Transport, TransportResponse } from '../../../src/service/transport.ts'

export type Row = Record<string, unknown>

/** A calls service as callwatch prefers it, with what a test changes. */
export type FakeService = {
  rows: Row[]
  /** The most calls a page. */
  most: number
  /** The total that it says, from the number of rows. */
  total: (rows: number) => number | undefined
  getCall: (row: Row) => unknown
  unknownId: { status: number; body: unknown }
  headers: TransportResponse['headers']
  /** Replaces the answer to a request, by its number from 1 and its path. */
  instead: (number: number, path: string) => Partial<TransportResponse> | Error | undefined
}

/** UNIX seconds. The findings must not depend on it, so it is not now. */
export const START = 1_790_000_000

export function rowsOf(count: number, change: (row: Row, index: number) => Row = (row) => row): Row[] {
  return Array.from({ length: count }, (_none, index) =>
    change(
      {
        sessionId: `session ${index}/ü`,
        mid: `mid-${index}`,
        type: 'audio',
        mode: 'call',
        receiverType: 'user',
        status: 'ended',
        initiator: 'uid-of-alice',
        totalAudioMinutes: 1.5,
        initiatedAt: START - 60 * index,
        endedAt: START - 60 * index + 50,
        participants: [{ uid: 'uid-of-alice', isJoined: true, joinedAt: START - 60 * index, state: 'ended' }],
      },
      index,
    ),
  )
}

const ERROR = { error: { code: 'ERR_CALL_SESSION_NOT_FOUND', message: 'none' } }

/** What the survey finds out of the service, and the paths that it requested. */
export async function surveyed(changes: Partial<FakeService> = {}, poll: object = {}, target: object = {}) {
  const service: FakeService = {
    rows: rowsOf(250),
    most: 1000,
    total: (rows) => rows,
    getCall: (row) => ({ data: row }),
    unknownId: { status: 404, body: ERROR },
    headers: { 'x-rate-limit-remaining': '499', 'content-encoding': 'gzip', date: new Date().toUTCString() },
    instead: () => undefined,
    ...changes,
  }
  const paths: string[] = []
  const exchanges: Exchange[] = []
  const transport: Transport = async ({ path }) => {
    paths.push(path)
    const instead = service.instead(paths.length, path)
    if (instead instanceof Error) throw instead
    const { status, body } = answer(service, path)
    return { status, headers: service.headers, body: JSON.stringify(body), ...instead }
  }
  const config = configOf({ targets: [{ name: 'a', base_url: 'https://a.example/v3', api_key: 'k', ...target }], poll })
  const findings = await survey({
    target: config.targets[0]!,
    poll: config.poll,
    transport: collecting(transport, exchanges),
    exchanges,
  })
  return { findings, paths, of: (check: Finding['check']) => findings.find((each) => each.check === check) }
}

function answer({ rows, most, total, getCall, unknownId }: FakeService, path: string) {
  const url = new URL(path, 'http://a.example')
  if (url.pathname !== '/calls') {
    const id = decodeURIComponent(url.pathname.slice('/calls/'.length))
    const row = rows.find(({ sessionId }) => sessionId === id)
    return row === undefined ? unknownId : { status: 200, body: getCall(row) }
  }
  const [page, asked] = ['page', 'perPage'].map((name) => Number(url.searchParams.get(name)))
  const size = Math.min(asked!, most)
  const data = rows.slice((page! - 1) * size, page! * size)
  return { status: 200, body: { data, meta: { pagination: { total: total(rows.length) } } } }
}
