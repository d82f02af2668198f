/**
 * Imported before everything else, which takes a while to load. Without a listener a signal ends the process, or is lost
 * in process 1 of a container: signals that arrive before `run` listens are kept for it.
 */
const early: NodeJS.Signals[] = []
const record = (signal: NodeJS.Signals) => void early.push(signal)

if (process.argv[2] === 'run') for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, record)

/** Those of these signals that have arrived so far. From now on the caller listens for them. */
export function earlySignals(...names: NodeJS.Signals[]): NodeJS.Signals[] {
  for (const name of names) process.off(name, record)
  return early.filter((signal) => names.includes(signal))
}
