import type { KnownList } from '../../ledger/known-list.ts'

/** This many settled rows in a row, adjacent as before, show that a reading joins what was known. */
const ROWS_TO_JOIN = 5
/** The most ids in a joint. */
const MOST_ROWS = 100

/**
 * Finds where a reading joins what the last reading knew. The reading starts at the end where new calls appear. Open rows do
 * not join, because they move in a list that is sorted by state or by the last change. Changed in place.
 */
export type Joining = {
  /** The index of each id in the joint. */
  readonly indexes: ReadonlyMap<string, number>
  /** Whether the joint is the whole list. */
  readonly isWhole: boolean
  /** The number of rows that the reading has shown, each counted once. */
  rows: number
  /** How many of the latest rows are adjacent in the joint, and how many of those are settled. */
  inPlace: number
  settled: number
  /** The index of the last row in the joint; undefined if it is not in the joint. */
  index?: number | undefined
  /** How many rows came before the first row of the joint, and before the rows that join it. */
  firstAt?: number
  joinedAt?: number
  /**
   * The next joint, from the end of the list as this reading shows it. And its settled rows in a row: the latest run, and the
   * longest.
   */
  readonly top: string[]
  run: number
  longestRun: number
}

export function newJoining(list: KnownList | undefined): Joining {
  return {
    indexes: new Map(list?.joint.map((id, index) => [id, index])),
    isWhole: list?.isWhole === true,
    rows: 0,
    inPlace: 0,
    settled: 0,
    top: [],
    run: 0,
    longestRun: 0,
  }
}

/** Adds the next row inwards. @param isSettled whether the call was final before this reading */
export function addRow(joining: Joining, id: string, isSettled: boolean): void {
  addToTop(joining, id, isSettled)
  const index = joining.indexes.get(id)
  const isNext = index !== undefined && joining.index !== undefined && index === joining.index + 1
  joining.inPlace = index === undefined ? 0 : isNext ? joining.inPlace + 1 : 1
  joining.settled = index === undefined || !isSettled ? 0 : isNext ? joining.settled + 1 : 1
  joining.index = index
  if (index !== undefined) joining.firstAt ??= joining.rows
  joining.rows += 1
  if (joining.settled === ROWS_TO_JOIN) joining.joinedAt ??= joining.rows - ROWS_TO_JOIN
}

/**
 * Adds a row to the next joint. If the joint is full but contains no rows that could join, because many calls are open, its
 * first rows are dropped: settled rows are further back.
 */
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

/** Whether the reading has joined what was known, and then read `overlap` more rows. */
export function hasJoined({ joinedAt, rows }: Joining, overlap: number): boolean {
  return joinedAt !== undefined && rows - joinedAt >= Math.max(ROWS_TO_JOIN, overlap)
}

/** Whether the rows so far end with the whole list as it was known. */
export function hasJoinedWhole({ isWhole, inPlace, indexes }: Joining): boolean {
  return isWhole && indexes.size > 0 && inPlace === indexes.size
}

/** The joint for the next reading: the rows that were read, followed by the known rows after them. */
export function jointAfter({ top, index, rows }: Joining, joint: readonly string[]): readonly string[] {
  if (index === undefined || top.length < rows) return top
  return [...top, ...joint.slice(index + 1)].slice(0, MOST_ROWS)
}
