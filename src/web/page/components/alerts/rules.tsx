import { formatNumber, formatSeconds, plural } from '../../../../text/format.ts'
import { addressOf } from '../../model/address.ts'
import type { WatchedRule } from '../../model/api.ts'
import { moment, momentInZone, named, secondsBetween, someOf, valueOf } from '../../model/format.ts'
import { polledTargets } from '../../model/notices.ts'
import { firedOf, sendTest } from '../../model/alerts/rules.ts'
import { nowOf, type State } from '../../model/state.ts'
import { onlyOf, shownAlerts, shownTargets } from '../../model/totals.ts'
import { Button, coloured, LinkButton, Note, Section, soft, Table, words, type Column } from '../layout.tsx'

/** What watches, when nothing is wrong; and whether messages arrive. Absent while an alert is pending or firing. */
export function AtRest({ state }: { state: State }) {
  const { rules, snapshot, testing } = state
  if (shownAlerts(state).length > 0) return false
  const targets = shownTargets(state)
  const what = onlyOf(targets)?.name ?? plural(targets.length, 'target')
  const count = rules.answer?.rules.length
  return (
    <Section
      id="at-rest"
      title={polledTargets(state).length === targets.length ? 'Nothing is wrong' : 'No alert fires'}
      note={
        snapshot?.read_only === false && (
          <Button disabled={testing.isSending} onClick={sendTest}>
            Send a test message
          </Button>
        )
      }
    >
      <p>
        {count !== undefined && `${plural(count, 'rule')} ${count === 1 ? 'watches' : 'watch'} ${what}. `}
        {lastText(state)} {receiversText(state)}
      </p>
      <Note id="testing" problem={testing.problem}>
        {testing.said !== '' && soft(testing.said)}
      </Note>
    </Section>
  )
}

function lastText(state: State) {
  const [last] = firedOf(state)
  if (state.pastAlerts === undefined) return ''
  if (last === undefined) return state.isPastCut ? '' : 'No alert has fired in the last 7 days.'
  const now = nowOf(state)
  const until = last.until === null ? '' : ` to ${moment(last.until, last.since)}`
  return ['The last alert was ', <b>{named(last)}</b>, `, ${momentInZone(last.since, now)}${until}.`]
}

function receiversText({ snapshot }: State) {
  const names = (snapshot?.receivers ?? []).map(({ name }) => name)
  if (snapshot?.receivers === undefined) return ''
  return names.length === 0 ? 'Nobody is notified: no receiver is configured.' : `Messages go to ${names.join(', ')}.`
}

/** Each rule with its value against its threshold, when it last fired, and who is notified. */
export function Rules({ state }: { state: State }) {
  const { answer, problem } = state.rules
  if (state.query.has('incident') || state.query.has('alert')) return false
  return (
    <Section id="rules" title="Rules" note={soft('times: in the last 7 days')}>
      <Note id="rules-note" problem={problem} isLoading={answer === undefined} />
      {answer !== undefined && (
        <Table
          caption="Rules, with their values now"
          columns={columnsOf(state)}
          items={answer.rules}
          empty="No rule is configured."
        />
      )}
    </Section>
  )
}

function columnsOf(state: State): Column<WatchedRule>[] {
  const isOne = shownTargets(state).length === 1
  return [
    ['Rule', ({ name, text }) => [name, words(soft(text))], 'state'],
    [
      'Now',
      (rule) => {
        if (rule.now === null) return words(soft(rule.no_value))
        const { target, labels } = rule.now
        const whose = named({ target: isOne ? '' : target, labels })
        return [valueOf(rule, rule.now.value), whose !== '' && [' ', soft(whose)]]
      },
      'number',
    ],
    ['Threshold', (rule) => `${rule.breach} ${valueOf(rule, rule.now?.threshold ?? rule.threshold)}`, 'number'],
    ['Last 24 h', dayLine, 'rest'],
    ['Last fired', ({ name }) => firedText(state, name), 'number'],
    ['Times', ({ name }) => timesText(state, name), 'number'],
    ['Goes to', ({ notify }) => (notify.length === 0 ? soft('nobody') : someOf(notify, 'receiver'))],
    [
      'Silence',
      ({ name }) => (
        <LinkButton href={addressOf('silences', { alert: name, target: state.target })} aria-label={`Silence ${name}`}>
          Silence
        </LinkButton>
      ),
      'said',
    ],
  ]
}

/** As far as the past is known. */
const timesText = (state: State, name: string) =>
  state.pastAlerts === undefined
    ? '–'
    : `${formatNumber(firedOf(state, name).length)}${state.isPastCut ? ' or more' : ''}`

function firedText(state: State, name: string) {
  const [[last], now] = [firedOf(state, name), nowOf(state)]
  if (last === undefined) return soft(state.pastAlerts === undefined || state.isPastCut ? '–' : 'not in 7 days')
  const lasted = last.until === null ? 'fires' : formatSeconds(secondsBetween(last.since, last.until))
  return [moment(last.since, now), ' ', soft(lasted)]
}

const [WIDTH, HEIGHT] = [96, 20]

/** The values of a day as a line, and the threshold as a dashed one; the columns beside it have the numbers. */
function dayLine({ values, severity, now, threshold: own }: WatchedRule) {
  const threshold = now?.threshold ?? own
  const known = values.flatMap(({ value }) => value ?? [])
  if (known.length < 2) return soft('–')
  const [low, high] = [Math.min(0, threshold, ...known), Math.max(threshold, ...known)]
  const y = (value: number) => (HEIGHT - 1 - ((value - low) / (high - low || 1)) * (HEIGHT - 2)).toFixed(1)
  const step = WIDTH / Math.max(1, values.length - 1)
  const path = values
    .map(({ value }, i) =>
      value === null ? '' : `${values[i - 1]?.value == null ? 'M' : 'L'}${(i * step).toFixed(1)} ${y(value)}`,
    )
    .join('')
  return (
    <svg class="spark day" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <line class="dashed" style={coloured(severity)} x1="0" x2={WIDTH} y1={y(threshold)} y2={y(threshold)} />
      <path style={coloured('ended')} d={path} />
    </svg>
  )
}
