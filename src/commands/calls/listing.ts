import { setImmediate } from 'node:timers/promises'
import { systemClock } from '../../clock/clock.ts'
import { callView, type CallView } from '../../views/call.ts'
import type { StoreReader } from '../../store/reader.ts'
import { formatSeconds } from '../../text/format.ts'
import { plainText } from '../../text/plain-text.ts'
import { pagesOf, type CallSelection } from '../../history/calls-pages.ts'
import { tableLines } from '../command.ts'

/**
 * At most `limit` of the selected calls of a store, as the API has them.
 *
 * @param names of the targets whose calls in progress may be selected
 * @param warn gets a sentence if there are more
 */
export async function* partsOf(
  reader: StoreReader,
  names: readonly string[],
  { wanted, limit, warn }: { wanted: CallSelection; limit: number; warn: (line: string) => void },
): AsyncGenerator<CallView[]> {
  const targets = { all: () => names, own: () => [], others: () => names.map((name) => ({ name })) }
  let left = limit
  // One more, to know whether there are more.
  for await (const { calls } of pagesOf(wanted, limit + 1, { targets, store: reader })) {
    yield calls.slice(0, left).map(callView)
    const end = wanted.isEvery === true ? 'first' : wanted.finished === undefined ? 'oldest' : 'newest'
    if (calls.length > left) warn(`these are the ${end} ${limit}; --limit prints more`)
    left = Math.max(0, left - calls.length)
    // So that what was printed leaves before more is read.
    await setImmediate()
  }
}

/** The columns by their headings. Two at the end have numbers. */
const COLUMNS: Readonly<Record<string, (call: CallView) => string>> = {
  'began (UTC)': ({ began }) => inUtc(began),
  'finished (UTC)': ({ finished }) => (finished === undefined ? 'in progress' : inUtc(finished)),
  target: ({ target }) => plainText(target),
  'call id': (call) => (hasOwnId(call) ? call.call_id : ''),
  'session id': ({ session_id }) => plainText(session_id),
  type: ({ type }) => type,
  mode: ({ mode }) => mode,
  receiver: ({ receiver_type }) => receiver_type,
  status: ({ status }) => status,
  duration: ({ duration_seconds: seconds, finished, began }) => {
    if (seconds !== undefined) return formatSeconds(seconds)
    return finished === undefined
      ? `${formatSeconds(Math.max(0, systemClock.wall() - Date.parse(began) / 1000))} so far`
      : '-'
  },
  participants: ({ participants }) => String(participants),
}

const inUtc = (time: string) => time.replace('T', ' ').slice(0, 19)

/** Whether the call has another id than its session. */
const hasOwnId = ({ call_id, session_id }: CallView) => call_id !== session_id

/** The least important first. */
const GIVES_WAY = ['participants', 'receiver', 'mode']

/**
 * Calls as a table that fits the terminal, or as JSON.
 *
 * @param targets how many are configured: without others, the table can do without the target
 */
export function linesOf(calls: readonly CallView[], json: boolean, width: number, targets: number): string[] {
  if (json) return [JSON.stringify({ calls }, undefined, 2)]
  if (calls.length === 0) return ['no calls']
  const isOver = calls.some(({ finished }) => finished !== undefined)
  const left = [...(isOver ? [] : ['finished (UTC)']), ...(calls.some(hasOwnId) ? [] : ['call id'])]
  const columns = Object.entries(COLUMNS).filter(([name]) => !left.includes(name))
  const givesWay = [
    ...GIVES_WAY,
    ...(isOver ? ['began (UTC)'] : []),
    'type',
    ...(targets === 1 ? ['target'] : []),
    'call id',
  ]
  const rows = calls.map((call) => columns.map(([, textOf]) => textOf(call)))
  return tableLines(columns.map(([name]) => name), rows, columns.length - 2, { width, givesWay }) // oxfmt-ignore
}
