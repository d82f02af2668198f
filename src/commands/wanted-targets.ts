import type { Config } from '../config/config.ts'
import type { RowReader } from '../store/row-reader.ts'
import { names } from './option-values.ts'

/** The targets that values of `--target` name: each is a name, with commas in it or not, or several separated by commas. */
export async function wantedTargets(
  values: readonly string[] | undefined,
  config: Config,
  store: RowReader,
): Promise<string[] | undefined> {
  if (!values?.some((value) => value.includes(','))) return values && [...values]
  const stored = await store.rows('SELECT name FROM callwatch.targets', [])
  const known = new Set([...config.targets, ...stored].map(({ name }) => String(name)))
  return values.flatMap((value) => (known.has(value) ? [value] : names(value)))
}
