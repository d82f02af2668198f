/** One instruction of a Dockerfile, continuation lines joined. */
export type Instruction = { name: string; value: string }

/** Reads a Dockerfile; comments and empty lines left out. */
export function readDockerfile(text: string): Instruction[] {
  return text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', value = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? []
      return { name, value }
    })
}

/** A stage of a Dockerfile: its base image, its name if it has one, and its instructions. */
export type Stage = { from: string; name?: string | undefined; instructions: Instruction[] }

/** Splits a Dockerfile into its stages. */
export function stagesOf(instructions: readonly Instruction[]): Stage[] {
  const stages: Stage[] = []
  for (const instruction of instructions) {
    const [from = '', , name] = instruction.value.split(' ')
    if (instruction.name === 'FROM') stages.push({ from, name, instructions: [] })
    else stages.at(-1)!.instructions.push(instruction)
  }
  return stages
}

/** The value of the only instruction of that name. */
export function only(instructions: readonly Instruction[], name: string): string {
  const [first, second] = instructions.filter((instruction) => instruction.name === name)
  if (first === undefined || second !== undefined) throw new Error(`expected one ${name}`)
  return first.value
}

/** A command in exec form, which is a JSON array; any other would be a shell's, and a shell passes no signal on. */
export function execForm(value: string): string[] {
  const command: unknown = JSON.parse(value)
  if (!Array.isArray(command)) throw new Error(`not in exec form: ${value}`)
  return command.map(String)
}
