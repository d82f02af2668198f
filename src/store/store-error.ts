/** The store cannot be used now (unavailable), another process wrote it (stale), or it cannot be used at all (refused). */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly kind: 'unavailable' | 'stale' | 'refused'

  constructor(kind: StoreError['kind'], message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

/** What others have to change, such as a role or a certificate: a later start may succeed, though not without that. */
export class RefusedByOthers extends StoreError {
  constructor(message: string, cause?: unknown) {
    super('refused', message, cause)
  }
}

/** This daemon's settings differ from those that the member `from` declared. `how` says in which way. */
export class OtherSettingsError extends StoreError {
  constructor(from: string, how: string) {
    super(
      'unavailable',
      `this daemon's configuration is not that of ${from}, which uses the same store: ${how}; give all daemons on it the ` +
        'same configuration, or stop the others first (one that died counts until its lease has ended)',
    )
  }
}

/** For `catch`: returns `otherwise` for a {@link StoreError}, of any kind if none is given; rethrows any other error. */
export function onlyStoreErrors<T>(otherwise: T, kind?: StoreError['kind']): (error: unknown) => T {
  return (error) => {
    if (error instanceof StoreError && error.kind === (kind ?? error.kind)) return otherwise
    throw error
  }
}

/**
 * Whether an error is a bug of callwatch, such as a value of a type that no driver accepts. Databases and networks do not cause such
 * errors.
 */
export function isBug(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
}
