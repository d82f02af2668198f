/**
 * Imported before all else, which takes a while to load. Until somebody listens for them signals end a process, and for
 * process 1 of a container they are lost: those that come before `run` listens are kept for it.
 */
const came: NodeJS.Signals[] = []
const keep = (signal: NodeJS.Signals) => void came.push(signal)

if (process.argv[2] === 'run') for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, keep)

/** Those of these signals that have come so far; from now on the caller listens for them. */
export function earlySignals(...names: NodeJS.Signals[]): NodeJS.Signals[] {
  for (const name of names) process.off(name, keep)
  return came.filter((signal) => names.includes(signal))
}
