import { createHash } from 'node:crypto'

/** 32 hexadecimal digits, the same for the same values. */
export function hashOf(...values: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 32)
}
