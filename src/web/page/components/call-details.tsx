import { LATE_SECONDS } from '../../../ledger/usage.ts'
import { FAILURES } from '../../../ledger/failure-ratio.ts'
import { capital, formatNumber, formatSeconds, plural } from '../../../text/format.ts'
import { plainText } from '../../../text/plain-text.ts'
import { callSentence, timesOf } from '../../../views/call-text.ts'
import { addressOf } from '../model/address.ts'
import { addressOfIncidentPage } from '../model/alerts/incident-page.ts'
import { isOfCall } from '../model/alerts/meanwhile.ts'
import { addressAround, askService, callIdIn, findRequest, jsonOf, meaningOf } from '../model/calls.ts'
import type { CallDetails as Details } from '../model/api.ts'
import { moment, momentInZone, secondsBetween, zone } from '../model/format.ts'
import { nowOf, type State } from '../model/state.ts'
import { callLink, durationAt, Step } from './calls.tsx'
import { badge, Button, coloured, facts, LinkButton, Note, quiet, Section, soft, statusName, Table } from './layout.tsx'
import { FoundCalls } from './service-search.tsx'

/** The call that the address names: in a sentence, its times, what its outcome means, what can be done, and all that is known of it. */
export function CallDetails({ state }: { state: State }) {
  const { query, callPage } = state
  const { answer, problem } = callPage
  const [now, target, id] = [nowOf(state), query.get('target') ?? '', plainText(callIdIn(query))]
  return (
    <>
      <section id="call" class="card incident" aria-labelledby="call-title">
        <p class="soft crumb">
          <a href={addressOf('calls', { target })}>Calls</a>
          {` / ${[target, id].filter(Boolean).join(' / ')}`}
        </p>
        <div class="title">
          <h2 id="call-title">
            {answer ? callSentence(answer.call, momentInZone(answer.call.began, now), now) : `Call ${id}`}
          </h2>
        </div>
        <Note id="call-note" problem={problem} isLoading={answer === undefined}>
          {problem !== undefined && id !== '' && (
            <LinkButton href={addressOf('calls', { target, session_id: callIdIn(query) })}>
              Calls of this session
            </LinkButton>
          )}
        </Note>
        {answer !== undefined && [
          timeline(answer.call, now),
          meaning(answer),
          meanwhile(state, answer.call),
          next(state, answer.call),
        ]}
      </section>
      {answer !== undefined && [others(answer, now), seen(answer, now)]}
    </>
  )
}

/** Its times, and how long it rang and was connected next to each other. */
function timeline(call: Details['call'], now: string) {
  const times = timesOf(call, now)
  const share = (from = '', to = '') => (100 * secondsBetween(from, to)) / secondsBetween(times[0].at, times.at(-1)!.at)
  const failed = FAILURES.find((one) => one === call.status)
  const colourOf = (what: string) => failed ?? (what === 'rings' ? 'other' : 'ended')
  return (
    <>
      {times.length > 1 && (
        <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
          {times.slice(0, -1).map(({ at, what }, i) => (
            <rect
              class="fill"
              style={coloured(colourOf(what))}
              x={share(times[0].at, at)}
              width={share(at, times[i + 1]?.at)}
              height="10"
            />
          ))}
        </svg>
      )}
      <ol class="plain times">
        {times.map(({ at, what }) => (
          <li>
            <time datetime={at}>{moment(at, now)}</time> {what}
            {times.length === 1 && '; when it ended is not known'}
          </li>
        ))}
      </ol>
    </>
  )
}

/** What its outcome means, what to check, and whether its session had other calls. */
function meaning({ call, others: { calls } }: Details) {
  const { text, runbook } = meaningOf(call)
  return (
    <p class="soft">
      <b>{capital(call.status)}</b> {text}{' '}
      {runbook !== undefined && [<a href={`runbooks/${runbook}`}>What to check</a>, '. ']}
      {calls.length === 0 && 'Its session has no other call.'}
    </p>
  )
}

/** Which rules fired on its target during the call, or counted it before they fired, and on how many targets. */
function meanwhile(state: State, call: Details['call']) {
  const { answer = [], problem } = state.meanwhile
  if (!isOfCall(state.meanwhile, call)) return false
  return (
    <div id="call-meanwhile" aria-live="polite">
      {problem !== undefined && quiet(problem)}
      {answer.map(({ alert, targets, isCut, isLater }) => (
        <p>
          {isLater ? 'Counted by' : 'Meanwhile'}: <a href={addressOfIncidentPage(alert, alert.since)}>{alert.alert}</a>
          {` on ${isCut ? 'at least ' : ''}${plural(targets, 'target')}, from ${momentInZone(alert.since, nowOf(state))}`}
        </p>
      ))}
    </div>
  )
}

/** What can be done about a call, and what the service has answered about it. */
function next(state: State, call: Details['call']) {
  const { snapshot, found } = state
  const request = findRequest({ target: call.target, by: 'session_id', id: call.session_id })
  return (
    <>
      <span class="actions">
        {snapshot?.can_find === true && (
          <Button class="primary" disabled={found.isLoading === true} onClick={() => askService(request)}>
            Ask the service
          </Button>
        )}
        <LinkButton href={addressAround(call)}>Calls at that time</LinkButton>
        <LinkButton href={jsonOf(call)}>As JSON</LinkButton>
      </span>
      {snapshot?.can_find === true && found.request === request && <FoundCalls state={state} />}
    </>
  )
}

/** How callwatch saw it: its facts, what has changed after its end, and its transitions. */
const seen = (details: Details, now: string) => (
  <details id="call-seen" class="card">
    <summary>How callwatch saw it</summary>
    <Section id="call-facts" title="Facts">
      {callFacts(details, now)}
    </Section>
    {corrections(details)}
    {transitions(details, now)}
  </details>
)

function callFacts({ call, first_seen }: Details, now: string) {
  const isLost = call.status === 'lost'
  const isAnswered = !FAILURES.some((status) => status === call.status)
  const seconds = (value: number | undefined) => (value === undefined ? 'not known' : formatSeconds(value, 4))
  return facts([
    ['Status', statusName(call.status)],
    ['Target', call.target],
    ['Session', plainText(call.session_id)],
    ['Type', call.type],
    ['Mode', call.mode],
    ['Receiver type', call.receiver_type],
    ['Recording', call.has_recording ? 'yes' : 'no'],
    ['Began', momentInZone(call.began, now)],
    ['First seen by callwatch', momentInZone(first_seen, now)],
    [endName(call), call.finished === undefined ? 'in progress' : momentInZone(call.finished, now)],
    !isLost && ['Noticed', noticed(call, first_seen, now)],
    ['Answer delay', isAnswered ? seconds(call.answer_delay_seconds) : 'never answered'],
    isAnswered && ['Duration', seconds(call.duration_seconds)],
    ['Participants', formatNumber(call.participants)],
    ['Minutes', minutesText(call.minutes)],
    ['Minutes of participants', minutesText(call.participant_minutes)],
  ])
}

/** What the time of the end is: the service does not say each. */
const endName = ({ status, end_unknown: isEarliest }: Details['call']) =>
  status === 'lost' ? 'Lost' : isEarliest ? 'Finished, at the earliest' : 'Finished'

const minutesText = ({ audio, video }: Details['call']['minutes']) =>
  `${formatNumber(audio)} audio, ${formatNumber(video)} video`

function noticed({ finished, noticed, end_unknown: isEarliest }: Details['call'], firstSeen: string, now: string) {
  if (finished === undefined || noticed === undefined) return '–'
  if (Date.parse(noticed) < Date.parse(firstSeen)) return 'it finished before callwatch watched'
  const delay = secondsBetween(finished, noticed)
  const [when, after] = [momentInZone(noticed, now), `${formatSeconds(delay)} after ${isEarliest ? 'that' : 'its end'}`]
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
