import { InvalidArgumentError, Option } from 'commander'
import { switchTable, type Switch } from '../../simulator/switches.ts'

const HEADING = 'Switches, the default first (POST /_simulator/switches sets them while it runs):'

/** An option for each switch of the simulator: `perPage` becomes `--per-page`. An option that is not given has no value. */
export function switchOptions(): Option[] {
  return Object.entries(switchTable).map(([name, each]) => switchOption(name, each).helpGroup(HEADING))
}

function switchOption(name: string, { about, expected, accepts, initial }: Switch<unknown>): Option {
  const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  if (typeof initial === 'boolean') return new Option(`--${initial ? 'no-' : ''}${flag}`, about)

  const accepted = <T>(value: T): T => {
    if (accepts(value)) return value
    throw new InvalidArgumentError(`It must be ${expected}.`)
  }
  if (typeof initial === 'object') {
    // Repeatable. Another fault does not replace the first one.
    return new Option(`--${flag} <name=p,...>`, `${about}: ${expected}`).argParser((text, before?: object) =>
      accepted({ ...before, ...readRecord(text) }),
    )
  }
  return new Option(`--${flag} <value>`, `${about}: ${expected}`).argParser((text) => accepted(readValue(text)))
}

/** `reset=0.1,hang=0.05` */
function readRecord(text: string): Record<string, number | string | undefined> {
  const pairs = text.split(',').map((pair) => pair.split(/=(.*)/s))
  return Object.fromEntries(pairs.map(([name = '', value = '']) => [name.trim(), readValue(value)]))
}

/** A number if the text is one, otherwise the text. */
function readValue(text: string): number | string {
  const value = Number(text)
  return text.trim() !== '' && Number.isFinite(value) ? value : text
}
