import type { Store } from './store.ts'

/** The silences of a store, for a command beside the daemons that use it. */
export type SilenceBook = Pick<Store, 'silences' | 'addSilence' | 'endSilence' | 'close'>
