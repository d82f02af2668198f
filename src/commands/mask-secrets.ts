const MASK = '********'
/** Replacing anything shorter would deface every text, and it guards nothing. */
const SHORTEST = 4

/** Replaces every secret in a text. */
export type Mask = (text: string) => string

/**
 * Replaces secrets wherever they turn up: as they are, and as JSON and addresses spell them. Redaction by path would
 * miss one that a service repeats within an error's message.
 *
 * @param secrets one that another holds comes after it
 */
export function maskSecrets(secrets: readonly string[]): Mask {
  const spellings = secrets
    .filter(({ length }) => length >= SHORTEST)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
  return (text) => spellings.reduce((masked, secret) => masked.replaceAll(secret, MASK), text)
}
