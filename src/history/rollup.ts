import { PbfReader, PbfWriter } from 'pbf'
import { QUARTER_HOUR_SECONDS } from '../ledger/usage.ts'
import { add, KEYS, type Sums, type Take } from './sums.ts'

/**
 * The sums of the calls that finished in a quarter of an hour, in an hour or in three, by labels. Rollups are added up: a longer
 * one from shorter ones, that of all targets from each one's.
 */
export type Rollup = {
  /** When it begins (UNIX seconds). */
  at: number
  groups: ReadonlyMap<number, Sums>
  /** Adds to it. */
  take: Take
}

/** Of how much a rollup is (seconds). Each begins at a multiple of its width, and consists of whole ones of the width before. */
export const WIDTHS = [QUARTER_HOUR_SECONDS, 3600, 10_800] as const

/** When what has this width and contains a moment began (UNIX seconds). */
export function beginOf(at: number, width: number): number {
  return Math.floor(at / width) * width
}

/** @param at when it begins (UNIX seconds) */
export function newRollup(at: number): Rollup {
  const groups = new Map<number, Sums>()
  const within = KEYS.began + at / QUARTER_HOUR_SECONDS
  const take: Take = (labels, key, n) => {
    // A call that began within it is in progress neither at its begin nor at its end.
    if (key >= within) return
    const sums = groups.get(labels) ?? new Map<number, number>()
    groups.set(labels, sums)
    add(sums, key, n)
  }
  return { at, groups, take }
}

/** Gives all that a rollup has. */
export function takeRollup(take: Take, { groups }: Rollup): void {
  for (const [labels, sums] of groups) for (const [key, n] of sums) take(labels, key, n)
}

/**
 * A rollup as bytes; and the same without labels (of which all are 0), which is much smaller. {@link readRollup} reads both.
 * Undefined of an empty one.
 */
export function encodeRollup(rollup: Rollup) {
  if (rollup.groups.size === 0) return undefined
  const total = newRollup(rollup.at)
  takeRollup((_labels, key, n) => total.take(0, key, n), rollup)
  return { byLabels: encode(rollup), withoutLabels: encode(total) }
}

/*
 * In the encoding of Protocol Buffers a rollup is its groups, one after the other. A group is its labels, how many bytes follow,
 * and its sums in the order of their keys: twice the difference from the key before, one more where the sum is no whole number,
 * and the sum.
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
 * Gives all that a rollup has, as {@link encodeRollup} encoded it.
 *
 * @param column of a row, which both schemas have as bytes
 * @param only the codes of the labels that are wanted; undefined for all
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
