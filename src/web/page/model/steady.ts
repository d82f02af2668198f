import { change, type State } from './state.ts'

/** The order of each list when it was last free to change, by the keys of its items. */
const orders = new Map<string, ReadonlyMap<string, number>>()

/**
 * The items in their order; while the reader points at a list or has the focus in one, in the order of before, with what is new at
 * the end.
 */
export function steady<Item>(
  { isHeld }: Pick<State, 'isHeld'>,
  list: string,
  items: readonly Item[],
  keyOf: (item: Item) => string,
): readonly Item[] {
  const before = orders.get(list)
  const placeOf = (item: Item) => before?.get(keyOf(item)) ?? Number.MAX_SAFE_INTEGER
  if (isHeld && before !== undefined) return items.toSorted((a, b) => placeOf(a) - placeOf(b))
  orders.set(list, new Map(items.map((item, i) => [keyOf(item), i])))
  return items
}

type At = { currentTarget: Element }

const hold = () => change({ isHeld: true })
const release = ({ currentTarget: list }: At) =>
  void setTimeout(() => change({ isHeld: list.matches(':hover, :focus-visible, :has(:focus-visible)') }))

/** How many rows and controls an arrow moves the focus. */
const STEPS: Record<string, readonly [rows: number, controls: number]> = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
}
const lineOf = (control: HTMLElement) => control.closest('tr, li')

/** The handlers of a list: it keeps its order under the pointer and the focus, which the arrows move to other rows and within one. */
export const ROWS = {
  onPointerEnter: hold,
  onPointerLeave: release,
  onFocusIn: release,
  onFocusOut: release,
  onKeyDown: (event: KeyboardEvent & At) => {
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
