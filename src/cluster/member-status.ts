/** What a daemon writes for the others with each renewal of its lease. */
export type MemberStatus = {
  /** It takes its share of the targets; not while it loads or drains, or has other settings. */
  takesPart: boolean
  /** The health of its targets, by name. */
  targets: ReadonlyMap<string, unknown>
}

export function writeStatus({ takesPart, targets }: MemberStatus): string {
  return JSON.stringify({ takesPart, targets: [...targets] })
}

/** The status of a daemon that has joined and still loads its targets: the others keep its share until then. */
export const LOADING = writeStatus({ takesPart: false, targets: new Map() })

/** Reads a status, which another version of callwatch may have written: what is not understood counts as missing. */
export function readStatus(text: string): MemberStatus {
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
