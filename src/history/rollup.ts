import { PbfReader, PbfWriter } from 'pbf'
import { QUARTER_HOUR_SECONDS } from '../ledger/usage.ts'
import { add, KEYS, type Sums, type Take } from './sums.ts'

/**
 * The sums, by labels, of the calls that finished in a quarter of an hour, in one hour or in three hours. Longer rollups are
 * sums of shorter ones. The rollups of all targets are sums of each target's rollups.
 */
export type Rollup = {
  /** When it begins (UNIX seconds). */
  at: number
  groups: ReadonlyMap<number, Sums>
  /** Adds a number to the rollup. */
  take: Take
}

/**
 * The lengths of rollups (seconds). Each rollup begins at a multiple of its length, and consists of whole rollups of the next
 * smaller length.
 */
export const WIDTHS = [QUARTER_HOUR_SECONDS, 3600, 10_800] as const

/** The start of the rollup of this width that contains a time (UNIX seconds). */
export function beginOf(at: number, width: number): number {
  return Math.floor(at / width) * width
}

/** @param at when it begins (UNIX seconds) */
export function newRollup(at: number): Rollup {
  const groups = new Map<number, Sums>()
  const within = KEYS.began + at / QUARTER_HOUR_SECONDS
  const take: Take = (labels, key, n) => {
    // A call that began within the rollup is in progress neither at its start nor at its end.
    if (key >= within) return
    const sums = groups.get(labels) ?? new Map<number, number>()
    groups.set(labels, sums)
    add(sums, key, n)
  }
  return { at, groups, take }
}

/** Passes all sums of a rollup to `take`. */
export function takeRollup(take: Take, { groups }: Rollup): void {
  for (const [labels, sums] of groups) for (const [key, n] of sums) take(labels, key, n)
}

/**
 * A rollup as bytes, and its total without labels, which is much smaller (all its label codes are 0). {@link readRollup}
 * reads both. Undefined for an empty rollup.
 */
export function encodeRollup(rollup: Rollup) {
  if (rollup.groups.size === 0) return undefined
  const total = newRollup(rollup.at)
  takeRollup((_labels, key, n) => total.take(0, key, n), rollup)
  return { byLabels: encode(rollup), withoutLabels: encode(total) }
}

/*
 * A rollup in the encoding of Protocol Buffers is a sequence of groups. A group is the code of its labels, the number of
 * bytes that follow, and its sums in the order of their keys. A sum is twice the difference from the previous key, plus one
 * if the sum is not a whole number, and then the sum itself.
 */

function encode({ groups }: Rollup): Uint8Array {
  const bytes = new PbfWriter()
  for (const [labels, sums] of groups) {
    const group = new PbfWriter()
    let before = 0
    for (const [key, n] of [...sums].toSorted(([a], [b]) => a - b)) {
      const isWhole = Number.isInteger(n)
      group.writeVarint(2 * (key - before) + (isWhole ? 0 : 1))
      if (isWhole) group.writeVarint(n)
      else group.writeDouble(n)
      before = key
    }
    bytes.writeVarint(labels)
    bytes.writeBytes(group.finish())
  }
  return bytes.finish()
}

/**
 * Passes all sums of an encoded rollup ({@link encodeRollup}) to `take`.
 *
 * @param column of a row; both databases return bytes
 * @param only the codes of the wanted labels; undefined for all
 */
export function readRollup(take: Take, column: unknown, only?: ReadonlySet<number>): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const bytes = new PbfReader(column as Uint8Array)
  while (bytes.pos < bytes.length) {
    const labels = bytes.readVarint()
    const end = bytes.readVarint() + bytes.pos
    if (only?.has(labels) === false) bytes.pos = end
    for (let key = 0; bytes.pos < end;) {
      const each = bytes.readVarint()
      key += Math.floor(each / 2)
      take(labels, key, each % 2 === 0 ? bytes.readVarint() : bytes.readDouble())
    }
  }
}
