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

/** A mask that learns further secrets while it is in use. It forgets none: one that was taken back may still turn up. */
export type SecretsMask = { mask: Mask; learn: (secrets: readonly string[]) => void }

/** @param secrets that it knows from the start */
export function secretsMask(secrets: readonly string[]): SecretsMask {
  const known = new Set<string>()
  let current = maskSecrets([])
  const learn = (more: readonly string[]) => {
    for (const secret of more) known.add(secret)
    current = maskSecrets([...known].toSorted((a, b) => b.length - a.length))
  }
  learn(secrets)
  return { mask: (text) => current(text), learn }
}
