import { FAILURES } from '../../../ledger/failure-ratio.ts'
import { formatNumber, formatSeconds } from '../../../text/format.ts'
import { plainText } from '../../../text/plain-text.ts'
import { addressOf, changeAddress } from '../model/address.ts'
import type { Call, CallEvent } from '../model/api.ts'
import { IN_PROGRESS, isInProgress, loadCalls, loadOlder, stopSearch, typeSessionId } from '../model/calls.ts'
import { moment, momentInZone, secondsBetween, zone } from '../model/format.ts'
import { noCallsYet } from '../model/notices.ts'
import { nowOf, type State } from '../model/state.ts'
import { once, OUTCOMES } from '../model/totals.ts'
import {
  Choice,
  Download,
  Filters,
  givenIn,
  kindChoices,
  sameNames,
  TargetChoice,
  TextInput,
  TimeChoice,
  type Options,
} from './fields.tsx'
import { Button, facts, LinkButton, Note, quiet, Section, soft, statusName, Table, type Column } from './layout.tsx'

const STATUS_OPTIONS: Options = [
  ['', 'all that finished'],
  [FAILURES.join(), 'failed'],
  ...sameNames(OUTCOMES),
  ...IN_PROGRESS.map((name, i) => [name, i === 0 ? 'in progress' : `in progress: ${name}`] as const),
]
const PERIOD_OPTIONS: Options = [
  ['', 'finished'],
  ['true', 'began'],
]
const RECORDING_OPTIONS: Options = [
  ['', 'all'],
  ['true', 'with a recording'],
  ['false', 'without'],
]

const FIND_HINT =
  'To find the calls of a user, run `callwatch find USER`; with http.auth and http.find: true, this page does it too.'

/** All calls of the history by filters, which the address of the page has. */
export function CallsExplorer({ state }: { state: State }) {
  const { query, calls } = state
  const { request, next, isLoading, asOf, typed } = calls
  const now = nowOf(state)
  const what = query.get('began') === 'true' ? 'Began' : 'Finished'
  // Times that the reader is changing must not advance.
  const times = { query, now, time: Date.parse(asOf || now), disabled: isInProgress(query) }
  return (
    <Section id="explorer" title="Calls">
      <Filters query={query} onSend={loadCalls}>
        <TargetChoice state={state} />
        {kindChoices(query)}
        <Choice name="status" label="Status" query={query} options={STATUS_OPTIONS} />
        <Choice name="has_recording" label="Recording" query={query} options={RECORDING_OPTIONS} />
        <Choice name="began" label="By when they" query={query} options={PERIOD_OPTIONS} />
        <TimeChoice name="since" label={`${what} from`} {...times} />
        <TimeChoice name="until" label={`${what} before`} {...times} />
        <TextInput
          id="session-id"
          label="Session id begins with"
          value={typed ?? query.get('session_id') ?? ''}
          onInput={typeSessionId}
          onSelect={(text) => changeAddress({ session_id: text })}
        />
        <button type="submit">Refresh</button>
        <LinkButton href={addressOf('calls')}>Clear filters</LinkButton>
        {request !== '' && <Download request={`calls?${request}`} format="csv" name="calls" />}
        {request !== '' && <Download request={`calls?${request}`} format="ndjson" name="calls" />}
      </Filters>
      <CallsList state={state} />
      {state.snapshot?.can_find === false && quiet(FIND_HINT)}
      {next !== undefined && (
        <Button onClick={isLoading ? stopSearch : loadOlder}>{isLoading ? 'Stop the search' : 'Older calls'}</Button>
      )}
    </Section>
  )
}

/** How many calls were found, their sums, and the calls. */
function CallsList({ state }: { state: State }) {
  const { request, calls, next, isLoading = false, problem, asOf } = state.calls
  const count = `${formatNumber(calls.length)} calls`
  const all =
    next === undefined ? 'all that match' : `the ${isInProgress(state.query) ? 'first' : 'newest'}; there are more`
  const time = request === '' ? '' : ` As of ${momentInZone(asOf, nowOf(state))}.`
  const found = `${calls.length === 0 ? noneText(state) : `${count}, ${all}.`}${time}`
  const text = !isLoading ? found : calls.length === 0 ? 'Searching…' : `${count} so far, searching for older ones…`
  return (
    <>
      <Note id="explorer-note" problem={problem} isLoading={isLoading && calls.length === 0}>
        {problem === undefined && quiet(text)}
        {isInProgress(state.query) && quiet(inProgressText(state.query))}
      </Note>
      {calls.length > 0 && [summaryOf(calls, next !== undefined), tableOf(state.calls)]}
    </>
  )
}

function inProgressText(query: URLSearchParams) {
  const longer = query.get('longer_than')
  const which = longer ? ` Only those that began more than ${longer} ago.` : ''
  return `Calls in progress have no end: the times do not apply to them. The oldest is first.${which}`
}

/** Why the list is empty. */
const noneText = (state: State) =>
  (givenIn(state.query).length === 0 && noCallsYet(state)) ||
  (state.calls.next === undefined ? 'No call matches.' : 'No call found yet.')

/** The listed calls by outcome, type and mode. @param isPart there are others */
function summaryOf(calls: readonly Call[], isPart: boolean) {
  const of = isPart ? ` of these ${formatNumber(calls.length)}` : ''
  const countsOf = (key: 'status' | 'type' | 'mode') =>
    [...Map.groupBy(calls, (call) => call[key])]
      .toSorted(([, a], [, b]) => b.length - a.length)
      .map(([name, { length }]) => `${name} ${formatNumber(length)}`)
      .join(', ')
  return facts([
    [`Outcome${of}`, countsOf('status')],
    [`Type${of}`, countsOf('type')],
    [`Mode${of}`, countsOf('mode')],
  ])
}

/** How long calls lasted, or have lasted so far. @param now ISO 8601 */
export const durationAt = (now: string): Column<Call> => [
  'Duration',
  ({ duration_seconds: lasted, finished, began }) => {
    if (lasted !== undefined) return formatSeconds(lasted)
    return finished === undefined ? [formatSeconds(secondsBetween(began, now)), soft(' so far')] : '–'
  },
  'number',
]

/** When calls finished. @param now ISO 8601 */
export const finishedAt = (now: string): Column<Call> => [
  `Finished (${zone(now)})`,
  ({ finished }) => (finished === undefined ? 'in progress' : moment(finished, now)),
]
export const STATUS: Column<Call> = ['Status', ({ status }) => statusName(status), 'status said']

/** Calls, newest first: the same elements until the list is another one, so that thousands of rows cost nothing each second. */
const tableOf = once(({ calls, asOf: now }: State['calls']) => {
  const columns: Column<Call>[] = [
    finishedAt(now),
    STATUS,
    ['Session', callLink, 'session said'],
    ['Target', ({ target }) => target],
    ['Type', ({ type }) => type],
    ['Mode', ({ mode }) => mode],
    ['Receiver', ({ receiver_type }) => receiver_type, 'rest'],
    ['Began', ({ began, finished = now }) => moment(began, finished), 'rest'],
    durationAt(now),
    ['Participants', ({ participants }) => formatNumber(participants), 'number rest'],
    ['Audio min', ({ minutes }) => formatNumber(minutes.audio), 'number rest'],
    ['Video min', ({ minutes }) => formatNumber(minutes.video), 'number rest'],
  ]
  return <Table caption="Calls, newest first" columns={columns} items={calls} />
})

/** The session id of a call, or other content, which links to the call's own page. */
export const callLink = (
  { target, call_id, session_id }: Pick<Call, 'target' | 'call_id' | 'session_id'>,
  content = plainText(session_id),
) => <a href={addressOf('call', { target, call_id })}>{content}</a>

/** What happened to a call: `ongoing → ended`. */
export function Step({ event: { type, data } }: { event: Pick<CallEvent, 'type' | 'data'> }) {
  const [, , name = ''] = type.split('.')
  const { from, to, before } = data
  const isPlain = from === undefined || from === 'none' || name === 'reappeared'
  const shown = isPlain ? name : to
  return (
    <span>
      {before !== undefined
        ? [<b>corrected</b>, corrections(before, data)]
        : [isPlain ? '' : `${from} → `, statusName(shown ?? '')]}
    </span>
  )
}

function corrections(before: NonNullable<CallEvent['data']['before']>, { after, minutes }: CallEvent['data']) {
  const status = after === undefined || after.status === before.status ? [] : [`${before.status} → ${after.status}`]
  const media = (['audio', 'video'] as const)
    .filter((kind) => before.minutes[kind] !== minutes[kind])
    .map((kind) => `${kind} ${formatNumber(before.minutes[kind])} → ${formatNumber(minutes[kind])} min`)
  return [...status, ...media].map((text, i) => `${i === 0 ? ': ' : ', '}${text}`).join('')
}
