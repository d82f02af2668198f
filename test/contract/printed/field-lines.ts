/** Collects the types of fields by their path: `alerts[].since? string`. */
export type FieldLines = { add: (path: string, type: string) => void; lines: () => string[] }

/** A path has the types of all places that add it. */
export function fieldLines(): FieldLines {
  const types = new Map<string, Set<string>>()
  return {
    add: (path, type) => types.set(path, (types.get(path) ?? new Set()).add(type)),
    lines: () => [...types].map(([path, all]) => `${path} ${[...all].toSorted().join(' | ')}`.trim()).toSorted(),
  }
}

/** The path of a field, with `?` where it may be missing. */
export function below(path: string, name: string, isOptional: boolean): string {
  return `${path === '' ? '' : `${path}.`}${name}${isOptional ? '?' : ''}`
}
