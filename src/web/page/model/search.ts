import { change, initialState, type State } from './state.ts'

/** As many rows are shown at a time. */
export const WINDOW = 30

/**
 * The rows that the reader searches in a list, and those of them that are shown.
 *
 * @param of the names by which a row is found, and its states
 */
export function searched<Row>(
  { search }: Pick<State, 'search'>,
  list: string,
  all: readonly Row[],
  of: (row: Row) => { names: readonly string[]; states: readonly string[] },
) {
  const { text, is, from } = search.list === list ? search : initialState.search
  const part = text.trim().toLowerCase()
  const found = all.filter((row) => {
    const { names, states } = of(row)
    return (is === '' || states.includes(is)) && names.some((name) => name.toLowerCase().includes(part))
  })
  const first = from < found.length ? from : 0
  const show = (changed: Partial<State['search']>) => change({ search: { list, text, is, from: 0, ...changed } })
  return { text, is, first, count: found.length, rows: found.slice(first, first + WINDOW), show }
}

/** What a list shows, and how to show other rows. */
export type Searched = Omit<ReturnType<typeof searched>, 'rows'> & { rows: readonly unknown[] }
