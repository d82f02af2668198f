import { InvalidArgumentError, Option } from 'commander'
import { defaultSwitches, switchNames, switchTable, type Switches } from '../simulator/switches.ts'

const HEADING = 'Switches (POST /_simulator/switches sets them while it runs):'

/** An option for each switch of the simulator: `perPage` is `--per-page`. Without the option it has no value. */
export function switchOptions(): Option[] {
  return switchNames.map((name) => switchOption(name).helpGroup(HEADING))
}

function switchOption(name: keyof Switches): Option {
  const { about, expected, accepts } = switchTable[name]
  const initial = defaultSwitches[name]
  const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  if (typeof initial === 'boolean') return new Option(`--${initial ? 'no-' : ''}${flag}`, about)

  const accepted = <T>(value: T): T => {
    if (accepts(value)) return value
    throw new InvalidArgumentError(`It must be ${expected}.`)
  }
  if (typeof initial === 'object') {
    // Repeatable: another fault does not replace the first one.
    return new Option(`--${flag} <name=p,...>`, `${about}: ${expected}`).argParser((text, before?: object) =>
      accepted({ ...before, ...readRecord(text) }),
    )
  }
  return new Option(`--${flag} <value>`, `${about}: ${expected} (default: ${JSON.stringify(initial)})`).argParser(
    (text) => accepted(readValue(text)),
  )
}

/** `reset=0.1,hang=0.05` */
function readRecord(text: string): Record<string, number | string | undefined> {
  const pairs = text.split(',').map((pair) => pair.split(/=(.*)/s))
  return Object.fromEntries(pairs.map(([name = '', value = '']) => [name.trim(), readValue(value)]))
}

/** A number, if the text is one. */
function readValue(text: string): number | string {
  const value = Number(text)
  return text.trim() !== '' && Number.isFinite(value) ? value : text
}
