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

/** The handlers of a list: it keeps its order under the pointer and the focus, which the arrows move to other rows. */
export const ROWS = {
  onPointerEnter: hold,
  onPointerLeave: release,
  onFocusIn: release,
  onFocusOut: release,
  onKeyDown: (event: KeyboardEvent & At) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const links = [...event.currentTarget.querySelectorAll<HTMLElement>('a, button')]
    const at = links.findIndex((link) => link === event.target)
    if (step === undefined || at < 0) return
    event.preventDefault()
    links[at + step]?.focus()
  },
}
