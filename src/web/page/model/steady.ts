import type { State } from './state.ts'

/** How long a list keeps its order by itself. */
const STEADY_MS = 30_000

/** The order of each list, by the keys of its items, and when it was last free to change. */
const orders = new Map<string, { at: number; places: ReadonlyMap<string, number> }>()

/**
 * The items in their order; while the reader points at a list or has the focus in one, in the order of before, with what is new at
 * the end. Otherwise those of a rank keep their order for half a minute, and what is new enters at its place.
 */
export function steady<Item>(
  { isHeld, now }: Pick<State, 'isHeld' | 'now'>,
  list: string,
  items: readonly Item[],
  keyOf: (item: Item) => string,
  rankOf: (item: Item) => number = () => 0,
): readonly Item[] {
  const order = orders.get(list)
  const isKept = order !== undefined && (isHeld || (order.at < now && now < order.at + STEADY_MS))
  const placeOf = (item: Item) => (isKept ? order.places.get(keyOf(item)) : undefined) ?? -1
  const shown = items
    .filter((item) => placeOf(item) >= 0)
    .toSorted((a, b) => (isHeld ? 0 : rankOf(a) - rankOf(b)) || placeOf(a) - placeOf(b))
  for (const [i, item] of items.entries()) if (placeOf(item) < 0) shown.splice(isHeld ? shown.length : i, 0, item)
  if (!isKept || !isHeld)
    orders.set(list, { at: isKept ? order.at : now, places: new Map(shown.map((item, i) => [keyOf(item), i])) })
  return shown
}

/** As many rows are shown at a time. */
export const WINDOW = 30

/**
 * The rows that the reader searches in a list, as the address says, and those of them that are shown: on paper
 * all.
 *
 * @param of the names by which a row is found, and its states
 */
export function searched<Row>(
  { query, shownFrom, isPrinting }: Pick<State, 'query' | 'shownFrom' | 'isPrinting'>,
  all: readonly Row[],
  of: (row: Row) => { names: readonly string[]; states: readonly string[] },
) {
  const [text, is] = [query.get('find') ?? '', query.get('state') ?? '']
  const part = text.trim().toLowerCase()
  const found = all.filter((row) => {
    const { names, states } = of(row)
    return (is === '' || states.includes(is)) && names.some((name) => name.toLowerCase().includes(part))
  })
  const first = shownFrom < found.length && !isPrinting ? shownFrom : 0
  return { text, is, first, count: found.length, rows: found.slice(first, isPrinting ? undefined : first + WINDOW) }
}

/** The items in the order of a column that the address names, `-` before the name for the greatest first; otherwise as they are. */
export function sorted<Item>(
  query: URLSearchParams,
  items: readonly Item[],
  ranks: Readonly<Record<string, (item: Item) => number | string>>,
): readonly Item[] {
  const [, isReverse = '', name = ''] = /^(-?)(.*)$/.exec(query.get('sort') ?? '') ?? []
  const rank = ranks[name]
  if (rank === undefined) return items
  const compare = (a: number | string, b: number | string) => (a < b ? -1 : a > b ? 1 : 0)
  return items.toSorted((a, b) => compare(rank(a), rank(b)) * (isReverse ? -1 : 1))
}

/** What a list shows, and how to show other rows. */
export type Searched = Omit<ReturnType<typeof searched>, 'rows'> & { rows: readonly unknown[] }

/** Whether the reader points at a list, or has the focus in one. */
export const isPointedAt = () =>
  document.querySelector(':is(.wide, .rows):is(:hover, :focus-visible, :has(:focus-visible))') !== null

/** How many rows and controls an arrow moves the focus. */
const STEPS: Record<string, readonly [rows: number, controls: number]> = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
}
const lineOf = (control: HTMLElement) => control.closest('tr, li')

/** The handlers of a list: the arrows move the focus to other rows and within one. */
export const ROWS = {
  onKeyDown: (event: KeyboardEvent & { currentTarget: Element }) => {
    const [rows, columns] = STEPS[event.key] ?? []
    const lines = Map.groupBy(event.currentTarget.querySelectorAll<HTMLElement>(':is(tr, li) :is(a, button)'), lineOf)
    const all = [...lines.values()]
    const row = all.findIndex((line) => line.some((control) => control === event.target))
    if (rows === undefined || columns === undefined || row < 0) return
    event.preventDefault()
    const column = all[row]!.findIndex((control) => control === event.target)
    all[row + rows]?.at(Math.max(0, column + columns))?.focus()
  },
}
