import type { SeenCall } from '../../../src/ledger/call.ts'
import type { CallPage, CallsClient } from '../../../src/service/calls-client.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import type { VirtualClock } from '../../kit/virtual-clock.ts'

/** A calls service whose list a test changes. */
export type FakeService = {
  client: CallsClient
  /** Newest first, as it is listed now. */
  calls: SeenCall[]
  /** What was requested: page numbers and session ids. */
  asked: (number | string)[]
  /** Runs before a page is read, to move the list while it is paged. */
  beforePage: (page: number) => void
  /** Overrides fields of each page. */
  says: Partial<Pick<CallPage, 'total' | 'totalPages' | 'items' | 'keys' | 'limit' | 'isUndated'>>
  /** Changes a page before it is answered. */
  shows: (page: CallPage) => CallPage
  /** The error to throw instead of an answer. */
  fails: (operation: 'list' | 'get', asked: number | string) => Error | undefined
  /** How far its clock is ahead of the host's (seconds). */
  ahead: number
  /** Calls that Get Call shows differently from the list, or that the list does not show. */
  known: Map<string, SeenCall>
}

export function fakeService(clock: VirtualClock, pageSize = 2): FakeService {
  const answer = async <T>(operation: 'list' | 'get', asked: number | string, read: () => T): Promise<T> => {
    service.asked.push(asked)
    if (operation === 'list') service.beforePage(Number(asked))
    const problem = service.fails(operation, asked)
    if (problem !== undefined) throw problem
    return read()
  }
  const answered = () => ({ serviceTime: clock.wall() + service.ahead, hostTime: clock.wall(), limit: undefined })
  const service: FakeService = {
    calls: [],
    asked: [],
    beforePage: () => undefined,
    says: {},
    shows: (page) => page,
    fails: () => undefined,
    ahead: 0,
    known: new Map(),
    client: {
      listCalls: (page) =>
        answer('list', page, () => {
          const calls = service.calls.slice((page - 1) * pageSize, page * pageSize)
          const total = service.calls.length
          const totalPages = Math.ceil(total / pageSize)
          return service.shows({
            ...answered(),
            page,
            calls,
            invalid: {},
            items: calls.length,
            keys: calls.map(({ id }) => id),
            total,
            totalPages,
            ...service.says,
          })
        }),
      getCall: (id) =>
        answer('get', id, () => {
          const call = service.known.get(id) ?? service.calls.find((listed) => listed.id === id)
          if (call === undefined) throw new ServiceError('not_found', 'unknown', { status: 404 })
          return { ...answered(), calls: [call] }
        }),
    },
  }
  return service
}
