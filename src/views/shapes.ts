import * as z from 'zod'
import { isoTime } from '../clock/times.ts'
import { FINAL_STATUSES, type FinalStatus } from '../ledger/call.ts'

/** The schemas that the document of the API and docs/contract.txt name. */
export const named = z.registry<{ id: string }>()
export const namedObject = <Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) =>
  z.object(shape).register(named, { id })
/** What is not JSON. */
export const namedText = (id: string, about: string) => z.string().describe(about).register(named, { id })

/* What several views have. */

export const time = z.iso.datetime()
export const timeOrNull = (seconds: number | undefined) => (seconds === undefined ? null : isoTime(seconds))
export const count = z.int().nonnegative()
export const seconds = z.number().nonnegative()
export const ratio = z.number().min(0).max(1)
export const minutes = z.object({ audio: z.number(), video: z.number() })
/** A value for each of these names. */
export function byName<const Name extends string, Value>(names: readonly Name[], valueOf: (name: Name) => Value) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.fromEntries forgets the names
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>
}
export const byOutcome = <Value>(valueOf: (status: FinalStatus) => Value) =>
  byName([...FINAL_STATUSES, 'other'], valueOf)
export const outcomes = byOutcome(() => count)
/** A text for some of these names. */
export const textsOf = <const Name extends string>(names: readonly Name[], text = z.string()) =>
  z.object(byName(names, () => text.exactOptional()))

/** JSON has no NaN. */
export const finite = z.number().nullable()

export function finiteOf(value: number | null | undefined): number | null {
  return value !== null && value !== undefined && Number.isFinite(value) ? value : null
}
