import { current } from './state.js'

/** The server's clock (milliseconds since 1970). The clock of this machine may be wrong, and serves without a snapshot only. */
export function serverTime() {
  const { snapshot } = current()
  if (snapshot === undefined) return Date.now()
  return Date.parse(snapshot.status.now) + performance.now() - snapshot.takenAt
}
