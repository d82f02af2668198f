import type { KnownList } from '../../ledger/known-list.ts'

/** So many settled rows in a row, next to each other as before, show that a reading joins what was known. */
const ROWS_TO_JOIN = 5
/** The most ids in a joint. */
const MOST_ROWS = 100

/**
 * Where a reading, from the end at which calls come in, joins what the last one knew. Open rows do not join: in a list that is
 * sorted by state or by the last change they move. Changed in place.
 */
export type Joining = {
  /** The place of each id in the joint. */
  readonly places: ReadonlyMap<string, number>
  /** The joint is the whole list. */
  readonly isWhole: boolean
  /** Rows that the reading has shown, each once. */
  rows: number
  /** Rows in a row, up to the last one, that are next to each other in the joint; how many of them, up to the last one, are settled. */
  inPlace: number
  settled: number
  /** The place of the last row in the joint; undefined where it has none. */
  place: number | undefined
  /** How many rows came before the first one that the joint has, and before those that join it. */
  firstAt: number | undefined
  joinedAt: number | undefined
  /** The next joint, from the end of the list as this reading shows it; and the settled rows in a row, up to its last one, and at most. */
  readonly top: string[]
  run: number
  longestRun: number
}

export function newJoining(list: KnownList | undefined): Joining {
  return {
    places: new Map(list?.joint.map((id, place) => [id, place])),
    isWhole: list?.isWhole === true,
    rows: 0,
    inPlace: 0,
    settled: 0,
    place: undefined,
    firstAt: undefined,
    joinedAt: undefined,
    top: [],
    run: 0,
    longestRun: 0,
  }
}

/** Adds the next row inwards. @param isSettled whether it was over before this reading */
export function addRow(joining: Joining, id: string, isSettled: boolean): void {
  addToTop(joining, id, isSettled)
  const place = joining.places.get(id)
  const isNext = place !== undefined && joining.place !== undefined && place === joining.place + 1
  joining.inPlace = place === undefined ? 0 : isNext ? joining.inPlace + 1 : 1
  joining.settled = place === undefined || !isSettled ? 0 : isNext ? joining.settled + 1 : 1
  joining.place = place
  if (place !== undefined) joining.firstAt ??= joining.rows
  joining.rows += 1
  if (joining.settled === ROWS_TO_JOIN) joining.joinedAt ??= joining.rows - ROWS_TO_JOIN
}

/** The first ids, but for those among which nothing would join: where many calls are open, settled ones are further back. */
function addToTop(joining: Joining, id: string, isSettled: boolean): void {
  if (joining.top.length === MOST_ROWS) {
    if (joining.longestRun >= ROWS_TO_JOIN) return
    joining.top.splice(0, MOST_ROWS - joining.run)
    joining.longestRun = joining.run
  }
  joining.top.push(id)
  joining.run = isSettled ? joining.run + 1 : 0
  joining.longestRun = Math.max(joining.longestRun, joining.run)
}

/** Whether the reading has joined what was known, and read so many rows from there. */
export function hasJoined({ joinedAt, rows }: Joining, overlap: number): boolean {
  return joinedAt !== undefined && rows - joinedAt >= Math.max(ROWS_TO_JOIN, overlap)
}

/** Whether the rows so far end with the whole list as it was known. */
export function hasJoinedWhole({ isWhole, inPlace, places }: Joining): boolean {
  return isWhole && places.size > 0 && inPlace === places.size
}

/** The joint for the next reading: the rows that were read, and those that are known to follow. */
export function jointAfter({ top, place, rows }: Joining, joint: readonly string[]): readonly string[] {
  if (place === undefined || top.length < rows) return top
  return [...top, ...joint.slice(place + 1)].slice(0, MOST_ROWS)
}
