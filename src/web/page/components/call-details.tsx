import { LATE_SECONDS } from '../../../ledger/usage.ts'
import { formatNumber, formatSeconds } from '../../../text/format.ts'
import { plainText } from '../../../text/plain-text.ts'
import { addressOf } from '../model/address.ts'
import { callIdIn } from '../model/calls.ts'
import type { CallDetails as Details } from '../model/api.ts'
import { moment, momentInZone, secondsBetween, zone } from '../model/format.ts'
import { nowOf, type State } from '../model/state.ts'
import { callLink, durationAt, Step } from './calls.tsx'
import { badge, facts, Note, quiet, Section, soft, statusName, Table } from './layout.tsx'

/** All that is known of the call that the address names. */
export function CallDetails({ state }: { state: State }) {
  const { query, callPage } = state
  const { answer, problem } = callPage
  const [now, target] = [nowOf(state), query.get('target') ?? '']
  const note = <a href={addressOf('calls', { target })}>{`All calls${target === '' ? '' : ` of ${target}`}`}</a>
  return (
    <>
      <Section id="call-facts" title={`Call ${plainText(callIdIn(query))}`} note={note}>
        <Note id="call-note" problem={problem} isLoading={answer === undefined} />
        {answer !== undefined && callFacts(answer, now)}
      </Section>
      {answer !== undefined && [corrections(answer), transitions(answer, now), others(answer, now)]}
    </>
  )
}

function callFacts({ call, first_seen }: Details, now: string) {
  const isLost = call.status === 'lost'
  const seconds = (value: number | undefined) => (value === undefined ? 'not known' : formatSeconds(value, 4))
  return [
    facts([
      ['Status', statusName(call.status)],
      ['Target', call.target],
      ['Session', plainText(call.session_id)],
      ['Type', call.type],
      ['Mode', call.mode],
      ['Receiver type', call.receiver_type],
      ['Recording', call.has_recording ? 'yes' : 'no'],
      ['Began', momentInZone(call.began, now)],
      ['First seen by callwatch', momentInZone(first_seen, now)],
      [isLost ? 'Lost' : 'Finished', call.finished === undefined ? 'in progress' : momentInZone(call.finished, now)],
      !isLost && ['Noticed', noticed(call, now)],
      ['Answer delay', call.status === 'unanswered' ? 'never answered' : seconds(call.answer_delay_seconds)],
      ['Duration', seconds(call.duration_seconds)],
      ['Participants', formatNumber(call.participants)],
      ['Minutes', minutesText(call.minutes)],
      ['Minutes of participants', minutesText(call.participant_minutes)],
    ]),
    isLost && quiet('The service no longer knows this call. callwatch never saw its end.'),
  ]
}

const minutesText = ({ audio, video }: Details['call']['minutes']) =>
  `${formatNumber(audio)} audio, ${formatNumber(video)} video`

function noticed({ finished, noticed }: Details['call'], now: string) {
  if (finished === undefined || noticed === undefined) return '–'
  const delay = secondsBetween(finished, noticed)
  const [when, after] = [momentInZone(noticed, now), `${formatSeconds(delay)} after its end`]
  return delay <= LATE_SECONDS ? `${when}, ${after}` : [when, ' ', badge('noticed late', 'warning'), ' ', after]
}

/** What the service has changed after the end of the call. */
function corrections({ call, at_its_end: before, status_now: status }: Details) {
  const compared = (name: string, before: string, after: string) => ({ name, before, after })
  const rows =
    before === undefined
      ? []
      : [
          compared('Status', before.status, status),
          compared('Audio minutes', formatNumber(before.minutes.audio), formatNumber(call.minutes.audio)),
          compared('Video minutes', formatNumber(before.minutes.video), formatNumber(call.minutes.video)),
        ].filter(({ before, after }) => before !== after)
  const none = before === undefined ? 'callwatch has not counted its end.' : 'Nothing has changed since its end.'
  return (
    <Section id="call-corrections" title="Corrections">
      <Table
        caption="What the service has changed after the end of the call"
        columns={[
          ['Changed', ({ name }) => name],
          ['At its end', ({ before }) => before],
          ['Now', ({ after }) => <b>{after}</b>],
        ]}
        items={rows}
        empty={none}
      />
      {before !== undefined && before.status !== status && quiet(`The call stays counted as ${before.status}.`)}
    </Section>
  )
}

function transitions({ events, events_since: kept, first_seen }: Details, now: string) {
  const isCut = kept !== undefined && events[0]?.data.from !== 'none' && Date.parse(kept) > Date.parse(first_seen)
  const before = isCut && `Events before ${momentInZone(kept, now)} are not kept.`
  const missing = kept === undefined ? 'No events are kept.' : before
  const shown = events.filter(({ type }) => type !== 'callwatch.call.details')
  return (
    <Section id="call-events" title="Transitions" note={soft(zone(now))}>
      {missing && quiet(missing)}
      {shown.length === 0 && !missing && quiet('No transition is known.')}
      <ol class="plain feed">
        {shown.map((event) => {
          const { time, data } = event
          const how = `${data.inferred === true ? ', inferred' : ''}${data.backfilled ? ', found after the fact' : ''}`
          return (
            <li>
              <time datetime={time}>{moment(time, now)}</time> <Step event={event} />{' '}
              {soft(`seen ${moment(data.detected_at, now)}${how}`)}
            </li>
          )
        })}
      </ol>
    </Section>
  )
}

/** The calls of its session before and after it. */
function others({ call: { target, session_id }, others: { calls, more } }: Details, now: string) {
  if (calls.length === 0) return undefined
  return (
    <Section id="call-others" title="Other calls of this session" note={soft(zone(now))}>
      <Table
        caption="Other calls of this session, newest first"
        columns={[
          ['Began', (other) => callLink(other, moment(other.began, now))],
          ['Status', ({ status }) => statusName(status)],
          durationAt(now),
        ]}
        items={calls}
      />
      {more > 0 && quiet(<a href={addressOf('calls', { target, session_id })}>{`${formatNumber(more)} more`}</a>)}
    </Section>
  )
}
