/**
 * Imported before everything else, which takes a while to load. Without a listener, a signal ends the process, or is lost if
 * the process is number 1 of a container. Signals that arrive before `run` listens are recorded here.
 */
const early: NodeJS.Signals[] = []
const record = (signal: NodeJS.Signals) => void early.push(signal)

if (process.argv[2] === 'run') for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, record)

/** The named signals that have arrived so far. From now on the caller listens for them. */
export function earlySignals(...names: NodeJS.Signals[]): NodeJS.Signals[] {
  for (const name of names) process.off(name, record)
  return early.filter((signal) => names.includes(signal))
}
