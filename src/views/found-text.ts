import type { FoundCalls } from './found-call.ts'

/** What a reader must know of the list besides its calls, in sentences. */
export function foundNotes({ calls, filter, unclear, complete }: FoundCalls): string[] {
  const left = unclear === 1 ? '1 call does' : `${unclear} calls do`
  const notes: [isSo: boolean, text: string][] = [
    [filter === 'ignored', 'The service ignored the filter: callwatch filtered the list itself.'],
    [filter === 'refused', 'The service refused the filter: callwatch filtered the list itself.'],
    [unclear > 0, `${left} not say who took part, and cannot be told.`],
    [!complete, 'Only a part of the list was read: there may be further calls.'],
    [calls.length === 0, 'No such call was found.'],
  ]
  return notes.flatMap(([isSo, text]) => (isSo ? text : []))
}
