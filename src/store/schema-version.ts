import { StoreError } from './store-error.ts'

/** @throws {StoreError} refused: a newer callwatch wrote the store */
export function refuseNewer(place: string, version: number, newest: number): void {
  if (version <= newest) return
  throw new StoreError(
    'refused',
    `${place} was written by a newer callwatch (schema ${version}, this one knows ${newest}); upgrade this one`,
  )
}

/** @throws {StoreError} refused: the store has no schema (0), or one older than `newest`, which only a daemon migrates */
export function refuseOlder(place: string, version: number, newest: number): void {
  if (version === newest) return
  throw new StoreError(
    'refused',
    version === 0
      ? `${place} contains no callwatch store: check the name, or start \`callwatch run\` with it first`
      : `${place} was last used by an older callwatch (schema ${version}, this one reads ${newest}); let this one's \`callwatch run\` use it first`,
  )
}
