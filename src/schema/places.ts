import { z } from 'zod'

/** Keys from the top of a file; `*` stands for any position in a list, or any key that the user chooses. */
export type Place<Meta> = { path: readonly string[]; meta: Meta }

/** The places in a schema whose parts are in a registry, in the order of the schema. */
export function placesOf<Meta>(
  schema: z.core.$ZodType,
  registry: { get: (schema: z.core.$ZodType) => Meta | undefined },
): Place<Meta>[] {
  const below = (part: string, child: z.core.$ZodType) =>
    placesOf(child, registry).map(({ path, meta }) => ({ path: [part, ...path], meta }))
  const meta = registry.get(schema)
  if (meta !== undefined) return [{ path: [], meta }]
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault) return placesOf(schema.unwrap(), registry)
  if (schema instanceof z.ZodPipe) return placesOf(schema.in, registry)
  if (schema instanceof z.ZodArray) return below('*', schema.element)
  if (schema instanceof z.ZodRecord) return below('*', schema.valueType)
  if (!(schema instanceof z.ZodObject)) return []
  return Object.entries(schema.shape).flatMap(([key, child]) => below(key, child))
}
