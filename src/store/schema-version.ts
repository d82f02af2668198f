import { StoreError } from './store.ts'

/**
 * Version 1 is frozen, as every version is from its release on: a change is another version (CONTRIBUTING.md, "The schema"). Before,
 * development versions had it in other editions; their stores are refused.
 */
export const EDITION = 9

/** @throws {StoreError} refused: a newer callwatch wrote the store */
export function refuseNewer(place: string, version: number, newest: number): void {
  if (version <= newest) return
  throw new StoreError(
    'refused',
    `${place} was written by a newer callwatch (schema ${version}, this one knows ${newest}); upgrade this one`,
  )
}

/** @throws {StoreError} refused: the store has no schema (0), or an older one than `newest`, and only a daemon migrates it */
export function refuseOlder(place: string, version: number, newest: number): void {
  if (version === newest) return
  throw new StoreError(
    'refused',
    version === 0
      ? `${place} contains no callwatch store: check the name, or start \`callwatch run\` with it first`
      : `${place} was last used by an older callwatch (schema ${version}, this one reads ${newest}); let this one's \`callwatch run\` use it first`,
  )
}

/** @param remedy how to start with an empty store */
export function developmentError(place: string, remedy: string): StoreError {
  return new StoreError(
    'refused',
    `${place} was written by a development version of callwatch, whose tables differ and are not converted; ${remedy}`,
  )
}
