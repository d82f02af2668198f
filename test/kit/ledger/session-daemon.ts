import type { SeenCall } from '../../../src/ledger/call.ts'
import { computeDelta, possiblyEvicted } from '../../../src/ledger/delta/compute-delta.ts'
import { horizon } from '../../../src/ledger/horizon.ts'
import { sessionOf } from '../../../src/ledger/identity.ts'
import type { ListedCall, Observation, ServiceAnswer } from '../../../src/ledger/observation.ts'
import { applyDelta } from '../../../src/ledger/state.ts'
import { isCounted } from '../../../src/ledger/tracked-call.ts'
import { callIdentities } from '../../../src/polling/call-identities.ts'
import { asked, CREATED, KNOWN_LIST, ledgerBook, listed } from './seen.ts'

/** A daemon that reads rows of one session: it keeps one `callIdentities`, as polls do. Times are seconds after CREATED. */
export function sessionDaemon(options: Parameters<typeof ledgerBook>[0] = {}) {
  const book = ledgerBook({ details: 'never', ...options })
  const { state, settings, history } = book
  let identities = callIdentities()
  /** As isUnchanged: a row equal to a tracked final call is that call. */
  const read = (one: SeenCall): ListedCall => {
    for (const known of state.calls.ofSession(one.session))
      if (
        known.phase === 'final' &&
        known.status === one.status &&
        (known.mid === undefined) === (one.mid === undefined) &&
        known.initiatedAt === one.initiatedAt &&
        known.startedAt === one.startedAt &&
        known.endedAt === one.endedAt &&
        (one.callMinutes.audio ?? 0) === known.minutes[0]
      )
        return known
    return { ...one }
  }
  const identify = (rows: readonly SeenCall[], now: number, source: ServiceAnswer['source'] = 'list') => {
    const calls = rows.map(read)
    identities.identify(calls, state, horizon(state.sync, settings.lookback), { now: CREATED + now, source })
    return calls
  }
  const commit = (observation: Observation) => {
    const sessions = new Set(possiblyEvicted(state, observation, settings))
    const rows = [...history.values()].filter((call) => sessions.has(sessionOf(call)))
    const delta = computeDelta(state, observation, settings, Map.groupBy(rows, sessionOf))
    if (delta === undefined) return
    applyDelta(state, delta, 86_400)
    for (const id of delta.calls.keys()) history.delete(id)
    for (const call of delta.evicted) if (isCounted(call)) history.set(call.id, call)
  }
  /** @param takes how long ago it began (seconds) */
  const poll = (now: number, pages: SeenCall[][], { sweep = true, ok = true, takes = 0 } = {}) => {
    identities.startPoll(false)
    const time = CREATED + now
    // All pages are read before the first one is committed.
    const read = pages.map((page): ServiceAnswer => ({ ...listed(time), calls: identify(page, now) }))
    commit({ answers: read })
    identities.committed()
    if (!ok) return
    commit({
      answers: [],
      success: {
        endsSweep: sweep,
        isConfirmed: sweep,
        beganServiceTime: time - takes,
        beganHostTime: time - takes,
        serviceTime: time,
        hostTime: time,
        listed: new Set(read.flatMap(({ calls }) => calls.map(({ id }) => id))),
        list: KNOWN_LIST,
      },
    })
  }
  /** Get Call for all open calls of the room that these rows do not show. */
  const get = (now: number, rows: SeenCall[]) => {
    const ids = [...state.open.keys()]
    const calls = identify(rows, now, 'get')
    commit({
      answers: [{ ...asked(CREATED + now, undefined), calls, notFound: calls.length === 0 ? ids : [] }],
    })
  }
  const result = () => ({ started: book.started(), finished: book.finished(), lost: book.lost() })
  return {
    ...book,
    poll,
    get,
    /** Both show one row. */
    pollAndGet: (now: number, shown: SeenCall) => {
      poll(now, [[shown]])
      get(now, [shown])
    },
    result,
    crash: () => (identities = callIdentities()),
  }
}
