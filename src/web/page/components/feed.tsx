import { plural } from '../../../text/format.ts'
import { addressOf } from '../model/address.ts'
import { moment, valueOf, zone } from '../model/format.ts'
import { noCallsYet } from '../model/notices.ts'
import { change, nowOf, type FeedLine, type State } from '../model/state.ts'
import { callLink, Step } from './calls.tsx'
import { Button, quiet, Scrollable, Section, SkipLink, soft } from './layout.tsx'

/** Changes of calls and alerts, newest first. */
export function Feed({ state }: { state: State }) {
  const { feed, pausedFeed, target } = state
  const now = nowOf(state)
  const isPaused = pausedFeed !== undefined
  const lines = (pausedFeed ?? feed).filter(({ data }) => target === '' || data.target === target)
  const toggle = () => change({ pausedFeed: isPaused ? undefined : feed })
  const note = (
    <span>
      {soft(`${zone(now)} `)}{' '}
      <Button aria-pressed={isPaused} onClick={toggle}>
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
    </span>
  )
  return (
    <Section id="feed" title="Live feed" note={note}>
      <SkipLink to="after-feed">Skip the feed</SkipLink>
      <Scrollable label="Live feed of transitions" look="tall">
        {lines.length === 0 && quiet(noCallsYet(state) ?? noneText(state))}
        <ol class="plain feed">
          {lines.map((line) => (
            <li key={`${line.kind}${line.id}`} class={line.kind}>
              {lineText(line, now)}
            </li>
          ))}
        </ol>
      </Scrollable>
      <span id="after-feed" tabindex={-1} />
    </Section>
  )
}

/** The feed has the newest events of all targets. */
function noneText({ feed, target }: State) {
  if (feed.length === 0) return 'No events yet.'
  const calls = <a href={addressOf('calls', { target })}>its calls</a>
  return [`None of the newest ${plural(feed.length, 'event')} is of ${target}: `, calls, '.']
}

function lineText(line: FeedLine, now: string) {
  if (line.kind === 'alert') {
    const { alert, target, value, threshold, severity } = line.data
    const [, , step = ''] = line.type.split('.')
    return [
      <time>{moment(line.time, now)}</time>,
      ' ',
      <strong class={step === 'resolved' ? 'good' : severity}>{`${alert} ${step}`}</strong>,
      ` on ${target}, ${valueOf(line.data, value)}, threshold ${valueOf(line.data, threshold)}`,
    ]
  }
  const { target, type, mode, inferred } = line.data
  return [
    <time>{moment(line.time, now)}</time>,
    <span>{target}</span>,
    <span>{`${type} ${mode}`}</span>,
    <Step event={line} />,
    soft([callLink(line.data), inferred === true && ', inferred']),
  ]
}
