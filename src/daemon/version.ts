import manifest from '../../package.json' with { type: 'json' }

/** The version of callwatch. */
export const VERSION: string = manifest.version
