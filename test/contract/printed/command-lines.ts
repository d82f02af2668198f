import { callwatch } from '../../kit/commands/callwatch.ts'

/** Each command with its arguments, and each of its options, as `--help` shows them. */
export async function commandLines(path: readonly string[] = []): Promise<string[]> {
  const { stdout } = await callwatch([...path, '--help'])
  const usage = /^Usage: callwatch ?(.*)$/m.exec(stdout)?.[1] ?? ''
  const name = path.join(' ')
  const options = termsOf(stdout, 'Options')
    .filter((term) => term !== '-h, --help')
    .map((term) => `${name} ${term}`.trim())
  const commands = termsOf(stdout, 'Commands').map((term) => term.split(' ')[0]!)
  const below = await Promise.all(
    commands.filter((command) => command !== 'help').map((command) => commandLines([...path, command])),
  )
  const command = usage.replaceAll(/ ?\[(?:options|command)\]/g, '')
  return [...(command === '' ? [] : [command]), ...options, ...below.flat()]
}

/** What a part of a help lists, with its choices: a term begins two blanks from the left, and two blanks end it. */
function termsOf(help: string, part: string): string[] {
  const [, body = ''] = help.split(`\n${part}:\n`)
  const [list = ''] = body.split('\n\n')
  return list.split(/\n? {2}(?=\S)(?<=^ {2}|\n {2})/).flatMap((entry) => {
    const [term = ''] = entry.split(/ {2}|\n/)
    const choices = /\(choices: ([^),]+(?:,\s+"[^)]*?")*)/.exec(entry)?.[1]?.replaceAll(/\s+/g, ' ')
    return term === '' ? [] : [choices === undefined ? term : `${term} ${choices.replaceAll(', ', ' | ')}`]
  })
}
