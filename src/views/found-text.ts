import type { FoundCalls } from './found-call.ts'

/** What a reader must know of the list besides its calls, in sentences. @param none the one that it has no calls */
export function foundNotes(
  { calls, filter, unclear, complete }: FoundCalls,
  none = 'No such call was found.',
): string[] {
  const notes: [isSo: boolean, text: string][] = [
    [filter === 'ignored' || filter === 'refused', `The service ${filter} the filter: callwatch filtered the list.`],
    [unclear > 0, `Calls that name nobody: ${unclear}.`],
    [!complete, 'Only a part of the list was read.'],
    [calls.length === 0, none],
  ]
  return notes.flatMap(([isSo, text]) => (isSo ? text : []))
}
