/** What a daemon tells the others with each beat. */
export type Note = {
  /** It takes its part; else what it lets go of is for the others: it is about to leave, or goes by other settings. */
  takesPart: boolean
  /** What may be shown of its targets, by name. */
  targets: ReadonlyMap<string, unknown>
}

export function writeNote({ takesPart, targets }: Note): string {
  return JSON.stringify({ takesPart, targets: [...targets] })
}

/** Of one that has joined and only loads its targets yet: the others keep what would be its part. */
export const LOADING = writeNote({ takesPart: false, targets: new Map() })

/** Whatever another version of callwatch may have written: what is not understood is not there. */
export function readNote(text: string): Note {
  const read: unknown = JSON.parse(text === '' ? '{}' : text)
  const { takesPart, targets } = isObject(read) ? read : {}
  const pairs = Array.isArray(targets) ? targets.filter(isPair) : []
  return { takesPart: takesPart !== false, targets: new Map(pairs) }
}

function isPair(value: unknown): value is [string, unknown] {
  return Array.isArray(value) && typeof value[0] === 'string'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
