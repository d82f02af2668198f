import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { formatNumber } from '../../../text/format.ts'
import { changeAddress, showAddress } from '../model/address.ts'
import { FAILURES } from '../../../ledger/failure-ratio.ts'
import type { Alert, PerMinute } from '../model/api.ts'
import { ROWS } from '../model/steady.ts'
import type { State } from '../model/state.ts'
import { OUTCOMES, STATUSES, sum, toneOf } from '../model/totals.ts'

/** A part of the page with a heading. */
export function Section(props: { id: string; title: string; note?: ComponentChildren; children?: ComponentChildren }) {
  const { id, title, note, children } = props
  return (
    <section id={id} class="card" aria-labelledby={`${id}-title`}>
      <div class="title">
        <h2 id={`${id}-title`}>{title}</h2>
        {note}
      </div>
      {children}
    </section>
  )
}

/** Scrolls content that is wider or longer than its place, also by keyboard, so that the page does not scroll sideways. */
export const Scrollable = (props: { label: string; look: string; children?: ComponentChildren }) => (
  <div class={`wide ${props.look}`} role="group" aria-label={props.label} tabindex={0} {...ROWS}>
    {props.children}
  </div>
)

/** A column by its heading, what it has of an item, and the class of its cells. */
export type Column<Item> = readonly [title: string, cell: (item: Item) => ComponentChildren, look?: string]

/** The row of an item, which the first column names. Each other cell has the heading of its column too, without a zone, for narrow screens. */
const rowOf = <Item,>(item: Item, columns: readonly Column<Item>[], look?: string) => (
  <tr class={look}>
    {columns.map(([title, cell, look], i) =>
      i === 0 ? (
        <th scope="row">{cell(item)}</th>
      ) : (
        <td data-label={title.replace(/ \(.*/, '')} class={look}>
          {cell(item)}
        </td>
      ),
    )}
  </tr>
)

/** A table with more columns does not fit on a phone. */
const MOST_COLUMNS = 3

/** A phone shows as many cards at first (parts.css). */
const MOST_CARDS = 6

/** A table that scrolls on its own. On a phone its rows are cards if it has many columns. */
export function Table<Item>(props: {
  caption: string
  columns: readonly Column<Item>[]
  items: readonly Item[]
  /** What is shown instead of no item. */
  empty?: string
  /** The class of a row. */
  look?: (item: Item) => string
  /** Whether all columns but the first have numbers. */
  isNumeric?: boolean
  /** Whether long content scrolls. */
  isTall?: boolean
  /** The headings by which the reader can sort, and the address that says how. */
  sorts?: Readonly<Record<string, unknown>>
  query?: URLSearchParams
}) {
  const { caption, columns, items, empty, look: lookOf, isNumeric = false, isTall = false, sorts, query } = props
  if (items.length === 0 && empty !== undefined) return quiet(empty)
  return (
    <Scrollable label={caption} look={`${isTall ? 'tall' : ''} ${columns.length > MOST_COLUMNS ? 'cards' : ''}`}>
      <table class={isNumeric ? 'numbers' : ''}>
        <caption class="announced">{caption}</caption>
        <thead>
          <tr>
            {columns.map(([title, , look]) => (
              <Heading
                title={title}
                look={look}
                sort={sorts && plainTitle(title) in sorts ? plainTitle(title) : undefined}
                query={query}
              />
            ))}
          </tr>
        </thead>
        <tbody>{items.map((item) => rowOf(item, columns, lookOf?.(item)))}</tbody>
      </table>
      {columns.length > MOST_COLUMNS && items.length > MOST_CARDS && (
        <label class="check more">
          <input type="checkbox" />
          {`All ${formatNumber(items.length)}`}
        </label>
      )}
    </Scrollable>
  )
}

/** Without what is said in brackets, or of the window. */
const plainTitle = (title: string) => title.replace(/ \(.*| in \d+\w+$/, '')

/** The heading of a column. A button in it sorts by the column: first the greatest, then the least, then as before. */
function Heading(props: {
  title: string
  look: string | undefined
  sort: string | undefined
  query: URLSearchParams | undefined
}) {
  const { title, look, sort, query } = props
  const now = query?.get('sort') ?? ''
  const order = sort === undefined || ![sort, `-${sort}`].includes(now) ? 'none' : now === sort ? 'up' : 'down'
  const next = order === 'none' ? `-${sort}` : order === 'down' ? `${sort}` : ''
  return (
    <th
      scope="col"
      class={look}
      aria-sort={{ none: undefined, up: 'ascending' as const, down: 'descending' as const }[order]}
    >
      {sort === undefined ? (
        title
      ) : (
        <Button class="sort" onClick={() => changeAddress({ sort: next })}>
          {`${title}${{ none: '', up: ' ▲', down: ' ▼' }[order]}`}
        </Button>
      )}
    </th>
  )
}

/** The style of an element that the style sheet draws in the colour of a status, a severity or a series. */
export const coloured = (name: string) => `--status: var(--${name})`

/** The name of a status, with a dot if the status has a colour. */
export const statusName = (name: string) => (
  <b {...(OUTCOMES.some((one) => one === name) && { class: 'dot', style: coloured(name) })}>{name}</b>
)

export const soft = (text: ComponentChildren) => <span class="soft">{text}</span>
export const badge = (text: ComponentChildren, tone = '') => <span class={`badge ${tone}`}>{text}</span>
/** A badge in the colour of the state of an alert: of one that recovers, that of what is good. */
export const stateBadge = (text: string, alert: Alert) =>
  badge(text, alert.state === 'recovering' ? 'good' : toneOf(alert))
/** How many alerts have each state, as badges. */
export const stateBadges = (alerts: readonly Alert[]) =>
  [...Map.groupBy(alerts, ({ state }) => state)].flatMap(([state, same]) => [
    stateBadge(alerts.length === 1 ? state : `${formatNumber(same.length)} ${state}`, same[0]!),
    ' ',
  ])
export const words = (text: ComponentChildren) => <span class="words">{text}</span>
export const quiet = (text: ComponentChildren) => <p class="soft">{text}</p>

/** A share from 0 to 1 as a bar, with marks. The number next to it has the same information. */
export const bar = (share: number, colour: string, marks?: ComponentChildren) => (
  <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <rect class="ground" width="100" height="6" y="2" />
    <rect class="fill" style={coloured(colour)} width={share * 100} height="6" y="2" />
    {marks}
  </svg>
)

type Counts = PerMinute['targets'][number]
const SPARK_HEIGHT = 20

/** The finished calls of some targets of each minute, and those of them that failed. */
export function sparkline(targets: readonly Counts[]) {
  const of = (statuses: readonly (typeof STATUSES)[number][]) =>
    targets[0]?.ended.map((_, i) => sum(targets, (one) => sum(statuses, (status) => one[status][i] ?? 0))) ?? []
  const [all, failed] = [of(STATUSES), of(FAILURES)]
  const highest = Math.max(1, ...all)
  const bars = (counts: number[]) =>
    counts.map((count, i) => `M${i + 0.5} ${SPARK_HEIGHT}v${((-count * SPARK_HEIGHT) / highest).toFixed(2)}`).join('')
  return (
    <svg class="spark" viewBox={`0 0 ${all.length} ${SPARK_HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path style={coloured('ended')} d={bars(all)} />
      <path style={coloured('rejected')} d={bars(failed)} />
    </svg>
  )
}

/** A list of facts. It leaves out those that are false. */
export const facts = (list: readonly (readonly [name: string, value: ComponentChildren] | false)[]) => (
  <dl class="facts">
    {list
      .filter((fact) => fact !== false)
      .map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)

/** What is not loaded yet: lines of the height of its own. */
export const Skeleton = ({ lines }: { lines: number }) => (
  <div class="skeleton">
    <span class="announced">Loading…</span>
    {Array.from({ length: lines }, () => (
      <i />
    ))}
  </div>
)

/** A page without data: the sentence, the numbers and the list of the overview, or a part of another view. */
export const PageSkeleton = ({ view }: Pick<State, 'view'>) => (
  <>
    {view === 'overview' && [
      <Skeleton lines={1} />,
      <div class="tiles">
        {Array.from({ length: 5 }, () => (
          <div class="card tile">
            <Skeleton lines={3} />
          </div>
        ))}
      </div>,
    ]}
    <div class="card">
      <Skeleton lines={LINES} />
    </div>
  </>
)

const LINES = 12

/** What is announced when it changes: what was done, that something is loaded, and a problem; that of a load can be tried again. */
export function Note(props: {
  id: string
  problem: string | undefined
  /** Left out where nothing is loaded. */
  isLoading?: boolean
  children?: ComponentChildren
}) {
  const { id, problem, isLoading, children } = props
  return (
    <div id={id} aria-live="polite">
      {problem !== undefined && (
        <p>
          <strong class="bad">{problem}</strong>{' '}
          {isLoading !== undefined && <Button onClick={showAddress}>Try again</Button>}
        </p>
      )}
      {children}
      {isLoading && problem === undefined && <Skeleton lines={LINES} />}
    </div>
  )
}

/** A button that sends no form. */
export const Button = (props: Omit<ButtonHTMLAttributes, 'onClick'> & { onClick: () => unknown }) => (
  <button type="button" {...props} onClick={() => void props.onClick()} />
)

/** A link for the keyboard that moves the focus without a change of the address, which names the view. */
export function SkipLink({ to, children }: { to: string; children: ComponentChildren }) {
  const skip = (event: Event) => {
    event.preventDefault()
    document.getElementById(to)?.focus()
  }
  return (
    <a class="skip" href={`#${to}`} onClick={skip}>
      {children}
    </a>
  )
}

/** A link that looks like a button; `isPrimary`: whether it is the likely one. */
export const LinkButton = ({ isPrimary = false, ...link }: AnchorHTMLAttributes & { isPrimary?: boolean }) => (
  <a class={isPrimary ? 'button primary' : 'button'} {...link} />
)
