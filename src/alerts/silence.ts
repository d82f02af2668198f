import type { AlertMatch } from './match.ts'

/** Somebody's wish not to be told of some alerts until a moment. It ends by itself; evaluation goes on. */
export type Silence = {
  id: number
  match: AlertMatch
  /** UNIX seconds by the host's clock. */
  since: number
  until: number
  reason: string
}
