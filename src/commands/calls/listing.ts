import { callRowView, type CallRowView } from '../../events/call-data.ts'
import type { StoreReader } from '../../store/reader.ts'
import { formatSeconds } from '../../text/format.ts'
import { plainText } from '../../text/plain-text.ts'
import { pagesOf, type CallsWanted } from '../../web/api/calls-pages.ts'
import { tableLines } from '../command.ts'

/**
 * The selected calls of a store, newest first, as the API has them.
 *
 * @param names of the targets; a name may contain a comma, at which a request would split it
 */
export async function* partsOf(
  reader: StoreReader,
  names: readonly string[],
  wanted: CallsWanted,
  max = Infinity,
): AsyncGenerator<CallRowView[]> {
  const targets = { all: () => names, own: () => [], others: () => names.map((name) => ({ name })) }
  const ofTargets = { ...wanted, filter: { ...wanted.filter, targets: names } }
  for await (const { calls } of pagesOf(ofTargets, max, { targets, store: reader })) yield calls.map(callRowView)
}

const HEADER = [
  'finished (UTC)',
  'target',
  'session id',
  'type',
  'mode',
  'receiver',
  'status',
  'duration',
  'participants',
]
/** How many columns of text come before the columns with numbers. */
const TEXTS = 7

/** The least important first. */
const GIVES_WAY = ['participants', 'receiver', 'mode', 'type', 'target']

/** Calls as a table that fits the terminal, or as JSON. */
export function linesOf(calls: readonly CallRowView[], json: boolean, width: number): string[] {
  if (json) return [JSON.stringify({ calls }, undefined, 2)]
  if (calls.length === 0) return ['no calls']
  const rows = calls.map((call) => [
    call.finished === undefined ? 'in progress' : call.finished.replace('T', ' ').slice(0, 19),
    ...[call.target, call.session_id, call.type, call.mode, call.receiver_type, call.status].map(plainText),
    call.duration_seconds === undefined ? '-' : formatSeconds(call.duration_seconds),
    String(call.participants),
  ])
  return tableLines(HEADER, rows, TEXTS, { width, givesWay: GIVES_WAY })
}
