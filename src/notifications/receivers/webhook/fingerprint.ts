const OFFSET = 14_695_981_039_346_656_037n
const PRIME = 1_099_511_628_211n
const SEPARATOR = 255

/**
 * Alertmanager's fingerprint of an alert: the 64-bit FNV-1a hash (Fowler, Noll, Vo 1991) of its sorted labels, computed like
 * the package `model` of prometheus/common.
 */
export function fingerprintOf(labels: Readonly<Record<string, string>>): string {
  const names = Object.keys(labels).toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  let hash = OFFSET
  for (const text of names.flatMap((name) => [name, labels[name] ?? ''])) {
    for (const byte of [...Buffer.from(text), SEPARATOR]) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * PRIME)
  }
  return hash.toString(16).padStart(16, '0')
}
