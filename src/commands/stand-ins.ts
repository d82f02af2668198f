import { randomInt } from 'node:crypto'

/** What replaces a character: one of the first pool that has it, or one of the same length from a block beyond ASCII. */
const POOLS = ['abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '123456789', '0123456789']
const [BEYOND, BLOCK] = [[0x4e00, 0x1f300], 512]
/** Separators and control characters stay. */
const REPLACED = /[a-zA-Z\d]|[^\p{ASCII}\p{C}\p{Z}]/gu
/** So many draws find an unused stand-in, unless the text is so short that almost all are used. Half avoid other texts too. */
const MAX_DRAWS = 2000

/**
 * A function that replaces the letters of a text by random letters, and its digits by random digits. The same text always has
 * the same stand-in, and different texts have different ones.
 *
 * @param texts no stand-in is one of these, unless they are too short for it
 */
export function standIns(texts: ReadonlySet<string>): (text: string) => string {
  const used = new Set<string>()
  const known = new Map<string, string>()
  return (text) => {
    let standIn = known.get(text)
    for (let draws = 1; standIn === undefined; draws++) {
      const drawn = draw(text)
      const isFree = !used.has(drawn) && (draws > MAX_DRAWS / 2 || !texts.has(drawn))
      if (isFree || draws === MAX_DRAWS) standIn = drawn
    }
    used.add(standIn)
    known.set(text, standIn)
    return standIn
  }
}

function draw(text: string): string {
  return text.replaceAll(REPLACED, (character) => {
    const pool = POOLS.find((each) => each.includes(character))
    return pool?.[randomInt(pool.length)] ?? String.fromCodePoint(BEYOND[character.length - 1]! + randomInt(BLOCK))
  })
}
