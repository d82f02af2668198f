import type { FoundCalls } from './found-call.ts'

/** What a reader must know of the list besides its calls, in sentences. */
export function foundNotes({ calls, filter, unclear, complete }: FoundCalls): string[] {
  const notes: [isSo: boolean, text: string][] = [
    [filter === 'ignored' || filter === 'refused', `The service ${filter} the filter: callwatch filtered the list.`],
    [unclear > 0, `Calls that name nobody: ${unclear}.`],
    [!complete, 'Only a part of the list was read.'],
    [calls.length === 0, 'No such call was found.'],
  ]
  return notes.flatMap(([isSo, text]) => (isSo ? text : []))
}
