import type { Silence } from '../alerts/silence.ts'

/** What somebody did over HTTP that is logged and counted, and the address from which it came. */
export type WebEvent = { peer: string } & (
  | { kind: 'login failed' }
  | { kind: 'silence added'; user: string; silence: Silence }
  | { kind: 'silence ended'; user: string; id: number }
)
