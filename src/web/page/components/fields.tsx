import type { ComponentChildren } from 'preact'
import { MODES, RECEIVER_TYPES, TYPES } from '../../../ledger/call.ts'
import { formatNumber } from '../../../text/format.ts'
import { changeAddress } from '../model/address.ts'
import { local, momentOf, zone } from '../model/format.ts'
import { addressTime, inputTime, monthPeriod, presetOf, presetPeriod, type Preset } from '../model/period.ts'
import { change, nowOf, type State } from '../model/state.ts'
import { WINDOW, type Searched } from '../model/steady.ts'
import { Button, LinkButton } from './layout.tsx'

/** Values with their names. */
export type Options = readonly (readonly [value: string, name: string])[]

/** Options whose values are their names, after one for all of them. */
export const allOr = (names: readonly string[], all = 'all'): Options => [['', all], ...sameNames(names)]
export const sameNames = (names: readonly string[]): Options => names.map((name) => [name, name])

type Field = { id: string; label: string; value: string; onSelect: (value: string) => unknown }

/** A choice of one value. A value that is none of the options, as of a link, is shown as it is. */
export function Select({ id, label, value, onSelect, options }: Field & { options: Options }) {
  const isKnown = options.some(([known]) => known === value)
  return (
    <label>
      {label}
      <select id={id} value={value} onChange={({ currentTarget }) => void onSelect(currentTarget.value)}>
        {[...options, ...(isKnown ? [] : sameNames([value]))].map(([one, name]) => (
          <option value={one} selected={one === value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** A choice of one value of a parameter of the address. */
export function Choice(props: { name: string; label: string; query: URLSearchParams; options: Options }) {
  const { name, label, query, options } = props
  const select = (value: string) => changeAddress({ [name]: value })
  return <Select id={name} label={label} value={query.get(name) ?? ''} options={options} onSelect={select} />
}

/** Selects all targets or one: of more than `most` only the one that is selected. A link may name several, which are then a further option. */
export function TargetChoice({ state: { query, snapshot }, most = Infinity }: { state: State; most?: number }) {
  const [selected, all] = [query.getAll('target').join(', '), (snapshot?.targets ?? []).map(({ name }) => name)]
  const options = allOr(all.length > most ? [] : all, all.length > 1 ? `all ${all.length}` : 'all')
  const select = (target: string) => changeAddress({ target })
  return <Select id="target" label="Target" value={selected} options={options} onSelect={select} />
}

/** A choice of yes or no. */
export const Check = (props: { id?: string; label: string; isOn: boolean; onChange: (isOn: boolean) => unknown }) => (
  <label class="check">
    <input
      id={props.id}
      type="checkbox"
      checked={props.isOn}
      onChange={({ currentTarget }) => void props.onChange(currentTarget.checked)}
    />
    {` ${props.label}`}
  </label>
)

/** Selects calls by type, mode and receiver type. */
export const kindChoices = (query: URLSearchParams) => [
  <Choice name="type" label="Type" query={query} options={allOr(TYPES)} />,
  <Choice name="mode" label="Mode" query={query} options={allOr(MODES)} />,
  <Choice name="receiver_type" label="Receiver" query={query} options={allOr(RECEIVER_TYPES)} />,
]

/** A time of the address, in the zone of the page. */
export function TimeChoice(props: {
  name: 'since' | 'until'
  label: string
  query: URLSearchParams
  /** For which times ago are shown (milliseconds since 1970). */
  time: number
  now: string
  disabled?: boolean
}) {
  const { name, label, query, time, now, disabled = false } = props
  const value = inputTime(query, name, time)
  return (
    <label>
      {`${label} (${zone(value === '' ? now : new Date(momentOf(value)).toISOString())})`}
      <input
        id={name}
        type="datetime-local"
        step={value.length > 16 ? 1 : 60}
        value={value}
        disabled={disabled}
        onChange={({ currentTarget }) => changeAddress({ [name]: addressTime(currentTarget.value) })}
      />
    </label>
  )
}

/** The period of the address, as one of some presets or as two times. */
export function PeriodChoice(props: {
  state: State
  presets: readonly (readonly [preset: Preset, name: string])[]
  /** The period if the address names no beginning. */
  otherwise: Preset
  /** When the page loaded what it shows (ISO 8601), or '': times that the reader is changing must not advance. */
  asOf: string
}) {
  const { state, presets, otherwise, asOf } = props
  const now = nowOf(state)
  const time = Date.parse(asOf || now)
  const query = new URLSearchParams(state.query)
  if (!query.get('since')) query.set('since', presetPeriod(otherwise, time).since)
  const times = { query, time, now }
  const preset = presetOf(query, time, presets)
  const select = (value: string) => {
    for (const [name] of presets) if (name === value) changeAddress(presetPeriod(name, time))
  }
  const options: Options = preset === '' ? [...presets, ['', 'another period']] : presets
  return (
    <>
      <Select id="period" label="Period" value={preset} options={options} onSelect={select} />
      {otherwise === 'month' && <MonthSteps since={inputTime(query, 'since', time)} now={time} />}
      <TimeChoice name="since" label="From" {...times} />
      <TimeChoice name="until" label="Before" {...times} />
    </>
  )
}

/** Goes to the last month that begins before a period, and to the first that begins after its beginning. */
function MonthSteps({ since, now }: { since: string; now: number }) {
  if (since === '') return undefined
  const begin = momentOf(since)
  const [before, after] = [monthPeriod(begin - 1, 0, now), monthPeriod(begin, 1, now)]
  return (
    <span>
      <Button aria-label="Month before" onClick={() => changeAddress(before)}>
        ‹
      </Button>
      <Button aria-label="Month after" disabled={after.since > local(now)} onClick={() => changeAddress(after)}>
        ›
      </Button>
    </span>
  )
}

/** Without a `value`, it keeps what is typed. `onLeave`: it has the focus at once, and is called when it has lost it. */
type Typed = Partial<Field> &
  Omit<Field, 'onSelect' | 'value'> & { onInput: Field['onSelect']; names?: readonly string[]; onLeave?: () => unknown }

/** A text, with names to choose from. `onInput` is called while it is typed. */
export function TextInput(props: Typed) {
  const { id, label, value, onInput, onSelect, names = [], onLeave } = props
  return (
    <label>
      {label}
      <input
        id={id}
        value={value}
        list={names.length > 0 ? `${id}-names` : undefined}
        spellcheck={false}
        autocomplete="off"
        {...(onLeave && { ref: focusOnce, onBlur: () => void onLeave() })}
        onInput={({ currentTarget }) => void onInput(currentTarget.value)}
        onChange={({ currentTarget }) => void onSelect?.(currentTarget.value)}
      />
      {names.length > 0 && (
        <datalist id={`${id}-names`}>
          {names.map((one) => (
            <option value={one} />
          ))}
        </datalist>
      )}
    </label>
  )
}

const focusOnce = (input: HTMLInputElement | null) => input?.focus()

/** The search of a list with more rows than are shown at a time. */
export function Search({ of, states }: { of: Searched; states: readonly string[] }) {
  const { text, is, first, count, rows } = of
  const last = first + rows.length
  return (
    <Form>
      <TextInput id="find" label="Target or alert" value={text} onInput={(find) => changeAddress({ find })} />
      <Select
        id="state"
        label="State"
        value={is}
        options={allOr(states)}
        onSelect={(state) => changeAddress({ state })}
      />
      <Button aria-label="Previous page" disabled={first === 0} onClick={() => change({ shownFrom: first - WINDOW })}>
        ‹
      </Button>
      <span class="window" aria-live="polite">
        {`${formatNumber(Math.min(first + 1, count))}–${formatNumber(last)} of ${formatNumber(count)}`}
      </span>
      <Button aria-label="Next page" disabled={last >= count} onClick={() => change({ shownFrom: last })}>
        ›
      </Button>
    </Form>
  )
}

/** A form that its button sends without leaving the page. */
export function Form({ onSend, children }: { onSend?: (() => unknown) | undefined; children: ComponentChildren }) {
  const send = (event: Event) => {
    event.preventDefault()
    onSend?.()
  }
  return <form onSubmit={send}>{children}</form>
}

/** The form of a view, which a phone folds into a line that says what is selected. */
export function Filters(props: { query: URLSearchParams; onSend?: () => unknown; children: ComponentChildren }) {
  const { query, onSend, children } = props
  return (
    <details class="filters" open={isWide()}>
      <summary>{filterText(query)}</summary>
      <Form onSend={onSend}>{children}</Form>
    </details>
  )
}

/** As the style sheet decides it. */
const isWide = () => typeof matchMedia === 'undefined' || matchMedia('(min-width: 40rem)').matches

/** The filters of an address. */
export const givenIn = (query: URLSearchParams) => [...query].filter(([name, value]) => name !== 'zone' && value !== '')

/** What a phone shows instead of the filters. */
function filterText(query: URLSearchParams) {
  const filters = givenIn(query)
  return filters.length === 0 ? 'Filters' : `Filters: ${filters.map((one) => one.join('=')).join(', ')}`
}

type File = { request: string; format: 'csv' | 'ndjson'; name: string; period?: string | undefined }

/** A link that downloads the answer to a request of the API, into a file that names its targets and its period: `period`, or as it is asked for. */
export function Download({ request, format, name, period }: File) {
  const href = `api/v1/${request}&format=${format}`
  const text = `Download ${format.toUpperCase()}`
  const asked = new URLSearchParams(request.slice(request.indexOf('?') + 1))
  const times = period === undefined ? [asked.get('since'), asked.get('until')] : [period]
  const parts = ['callwatch', name, ...asked.getAll('target'), ...times].filter(Boolean)
  const file = parts
    .join('-')
    .replaceAll('/', '-')
    .replaceAll(/[^\w.+-]/g, '')
  return (
    <LinkButton href={href} download={`${file}.${format}`}>
      {text}
    </LinkButton>
  )
}
