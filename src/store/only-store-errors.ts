import { StoreError } from './store.ts'

/** For `catch`: a store that cannot be used comes to `otherwise`; whatever else went wrong goes on being thrown. */
export function onlyStoreErrors<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof StoreError) return otherwise
    throw error
  }
}
