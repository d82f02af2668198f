/** What a daemon tells the others with each beat. */
export type Note = {
  /** It is about to leave: what it lets go of is for the others. */
  isStopping: boolean
  /** What may be shown of its targets, by name. */
  targets: ReadonlyMap<string, unknown>
}

export function writeNote({ isStopping, targets }: Note): string {
  return JSON.stringify({ stopping: isStopping, targets: [...targets] })
}

/** Whatever another version of callwatch may have written: what is not understood is not there. */
export function readNote(text: string): Note {
  const read: unknown = JSON.parse(text === '' ? '{}' : text)
  const { stopping, targets } = isObject(read) ? read : {}
  const pairs = Array.isArray(targets) ? targets.filter(isPair) : []
  return { isStopping: stopping === true, targets: new Map(pairs) }
}

function isPair(value: unknown): value is [string, unknown] {
  return Array.isArray(value) && typeof value[0] === 'string'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
