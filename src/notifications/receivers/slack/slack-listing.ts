import { clip } from './slack-blocks.ts'

/** A line of a list, and its name if there is no room for the line. */
export type Item = { line: string; name: string }

/** Reserved for the names of items without a line (characters). */
const ROOM_FOR_NAMES = 700

/**
 * A list within a size, split into texts of limited length: as many lines as fit, then `and 12 more: …` with as many of the
 * names as fit.
 *
 * @param size of all texts together, as JSON (characters)
 * @param perText the most characters of one text
 */
export function listing(items: readonly Item[], size: number, perText: number): string[] {
  const kept: string[] = []
  let taken = 0
  for (const [index, { line }] of items.entries()) {
    const isLast = index === items.length - 1
    const length = sizeInJson(line)
    if (length > perText || taken + length + (isLast ? 0 : ROOM_FOR_NAMES) > size) break
    kept.push(line)
    taken += length
  }
  const rest = items.slice(kept.length)
  if (rest.length > 0) kept.push(moreOf(rest, Math.min(perText, size - taken)))
  return chunksOf(kept, perText)
}

function moreOf(items: readonly Item[], room: number): string {
  const names: string[] = []
  const begun = `and ${items.length} more`
  let taken = begun.length + ': , …'.length
  for (const { name } of items) {
    taken += sizeInJson(name) + 1
    if (taken > room) break
    names.push(name)
  }
  if (names.length === 0) return clip(begun, Math.max(1, room))
  return `${begun}: ${names.join(', ')}${names.length < items.length ? ', …' : ''}`
}

/** Joins lines to texts within the limit. */
function chunksOf(lines: readonly string[], perText: number): string[] {
  const texts: string[] = []
  for (const line of lines) {
    const last = texts.at(-1)
    if (last !== undefined && last.length + 1 + line.length <= perText) texts[texts.length - 1] = `${last}\n${line}`
    else texts.push(line)
  }
  return texts
}

/** Includes the line break, which takes two characters in JSON. */
function sizeInJson(text: string): number {
  return JSON.stringify(text).length
}
