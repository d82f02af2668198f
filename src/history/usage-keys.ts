/** The keys by which a report can be split into rows, in the order of its columns. */
export const USAGE_KEYS = ['day', 'app', 'target', 'type', 'mode', 'receiver_type'] as const
export type UsageKey = (typeof USAGE_KEYS)[number]

/** The keys of these names in their order: by target without names, none for `none`; undefined if a name is no key. */
export function usageKeys(names: readonly string[] = ['target']): UsageKey[] | undefined {
  if (names.join() === 'none') return []
  return names.every((name) => USAGE_KEYS.some((key) => key === name))
    ? USAGE_KEYS.filter((key) => names.includes(key))
    : undefined
}
