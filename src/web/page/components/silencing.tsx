import { SEVERITIES } from '../../../alerts/match-keys.ts'
import { capital, formatNumber, plural } from '../../../text/format.ts'
import { addressOf, changeAddress } from '../model/address.ts'
import type { Silence } from '../model/api.ts'
import { labelText, moment, zone } from '../model/format.ts'
import {
  copy,
  editAddress,
  editedIn,
  expireSilence,
  lengthIn,
  matchOf,
  saveSilence,
  silenceCommand,
  silencesIn,
} from '../model/silences.ts'
import { nowOf, type State } from '../model/state.ts'
import { allOr, Check, Choice, Form, kindChoices, Select, TextInput, TimeChoice, type Options } from './fields.tsx'
import { Button, LinkButton, Note, quiet, Section, soft, Table, words, type Column } from './layout.tsx'

const LENGTHS: Options = [
  ['1h', '1 hour'],
  ['4h', '4 hours'],
  ['1d', '1 day'],
  ['until', 'until a time'],
]

/** Adds, edits, expires and lists silences. The address has what the form says. */
export function Silencing({ state }: { state: State }) {
  const { query, snapshot } = state
  const edited = editedIn(query)
  const { active, expired } = silencesIn(snapshot)
  const canChange = snapshot?.read_only !== true
  const [id, ...others] = columnsAt(nowOf(state))
  return (
    <>
      <Section id="silencing" title={edited === '' ? 'Add a silence' : `Edit silence ${edited}`}>
        {canChange ? [<SilenceForm state={state} />, <Outcome state={state} />, PATTERNS] : command(state)}
      </Section>
      <Section id="active-silences" title="Active silences">
        <Table
          caption="Silences that are active"
          columns={[id, ...(canChange ? [CHANGE] : []), ...others]}
          items={active}
          empty="No silence is active."
        />
      </Section>
      {expired.length > 0 && (
        <Section id="expired-silences" title="Expired silences">
          <details>
            <summary>{`${formatNumber(expired.length)} in the last 7 days`}</summary>
            <Table caption="Expired silences, newest first" columns={[id, ...others]} items={expired} isTall />
          </details>
        </Section>
      )}
    </>
  )
}

function command(state: State) {
  const text = silenceCommand(state.query, state.snapshot?.needs_config)
  return [
    Object.keys(matchOf(state.query)).length === 0
      ? quiet('“Silence” next to an alert leads here with the command that silences it.')
      : [
          <p>This command silences it, where callwatch runs:</p>,
          <code>{text}</code>,
          // Elsewhere the browser lets no page copy.
          globalThis.isSecureContext && [' ', <Button onClick={() => copy(text)}>Copy</Button>],
          <Outcome state={state} />,
        ],
    quiet('Set http.auth to silence alerts from this page.'),
  ]
}

/** What the button does: `Silence 2 alerts for 1 hour`. */
function sendText({ query, matched }: State) {
  if (editedIn(query) !== '') return 'Save'
  const [length, isAll] = [lengthIn(query), query.get('all') === 'true']
  const what =
    matched.answer && (isAll || Object.keys(matchOf(query)).length > 0) ? ` ${plural(matched.answer, 'alert')}` : ''
  const [, name = length] = LENGTHS.find(([value]) => value === length) ?? []
  return `Silence${what} ${length === 'until' ? '' : 'for '}${name}`
}

function SilenceForm({ state }: { state: State }) {
  const { query, snapshot, silencing } = state
  const targets = snapshot?.targets ?? []
  const now = nowOf(state)
  const [isNew, length] = [editedIn(query) === '', lengthIn(query)]
  const rules = [...new Set(targets.flatMap(({ rules }) => rules.map(({ name }) => name)))]
  const names = targets.map(({ name }) => name)
  const text = (name: string, names: readonly string[] = []) => {
    const set = (value: string) => changeAddress({ [name]: value })
    const value = query.get(name) ?? ''
    return <TextInput id={name} label={capital(name)} value={value} onInput={set} names={names} />
  }
  const inAnHour = new Date(Math.ceil(Date.parse(now) / 60_000 + 60) * 60_000).toISOString()
  return (
    <Form onSend={saveSilence}>
      {text('alert', rules)}
      {text('target', names)}
      <Choice name="severity" label="Severity" query={query} options={allOr(SEVERITIES)} />
      {kindChoices(query)}
      <Select
        id="for"
        label="How long"
        value={length}
        options={isNew ? LENGTHS : [['', 'as it is'], ...LENGTHS]}
        onSelect={(text) => changeAddress({ for: text, until: text === 'until' ? inAnHour : '' })}
      />
      {length === 'until' && <TimeChoice name="until" label="Until" query={query} time={Date.parse(now)} now={now} />}
      {text('reason')}
      {Object.keys(matchOf(query)).length === 0 && (
        <Check
          id="all"
          label="every alert"
          isOn={query.get('all') === 'true'}
          onChange={(isOn) => changeAddress({ all: isOn ? 'true' : '' })}
        />
      )}
      <button type="submit" class="primary" disabled={silencing.isSending}>
        {sendText(state)}
      </button>
      <LinkButton href={addressOf('silences')}>{isNew ? 'Clear' : 'Cancel'}</LinkButton>
    </Form>
  )
}

/** What the form or the button has led to, or what the silence would match. */
function Outcome({ state: { silencing, matched } }: { state: State }) {
  const { problem = matched.problem, done } = silencing
  const { answer: count } = matched
  const alerts = count === 1 ? 'alert that fires now matches' : 'alerts that fire now match'
  const text = count === 0 ? 'No alert that fires now matches.' : `${formatNumber(count ?? 0)} ${alerts}.`
  return (
    <Note id="silencing-note" problem={problem}>
      {done !== '' && <p>{done}</p>}
      {done === '' && count !== undefined && quiet(text)}
    </Note>
  )
}

const PATTERNS = (
  <p class="soft">
    A value that begins with <code>=~</code> is a regular expression for all of it: <code>=~High.*</code>
  </p>
)

const columnsAt = (now: string): [Column<Silence>, ...Column<Silence>[]] => [
  ['Silence', ({ id, match }) => [labelText(match) || 'every alert', ' ', soft(`silence ${id}`)]],
  [`Since (${zone(now)})`, ({ since }) => moment(since, now)],
  [`Until (${zone(now)})`, ({ until }) => moment(until, now)],
  ['Author', ({ author }) => author ?? '–'],
  ['Reason', ({ reason }) => words(reason || '–')],
]

const CHANGE: Column<Silence> = [
  'Change',
  (silence) => [
    <LinkButton href={editAddress(silence)} aria-label={`Edit silence ${silence.id}`}>
      Edit
    </LinkButton>,
    ' ',
    // The arrows lead to it from the link, which alone is a tab stop.
    <Button tabindex={-1} onClick={() => expireSilence(silence.id)} aria-label={`Expire silence ${silence.id}`}>
      Expire
    </Button>,
  ],
]
