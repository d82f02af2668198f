const FLAGS = new Map<unknown, boolean>([
  ...[true, 1, '1', 'true'].map((yes) => [yes, true] as const),
  ...[false, 0, '0', 'false'].map((no) => [no, false] as const),
])

/** A flag in any of its forms; undefined if the value is none. */
export function flagOf(value: unknown): boolean | undefined {
  return FLAGS.get(value)
}
