const MASK = '********'
/** Shorter secrets are not replaced: that would garble every text, and protect nothing. */
const SHORTEST = 4

/** Replaces every secret in a text. */
export type Mask = (text: string) => string

/**
 * Replaces secrets wherever they occur: as they are, and as JSON and URLs encode them. Redaction by path would miss a secret
 * that a service repeats in an error message.
 *
 * @param secrets a secret that contains another one must come first
 */
export function maskSecrets(secrets: readonly string[]): Mask {
  const spellings = secrets
    .filter(({ length }) => length >= SHORTEST)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
  return (text) => spellings.reduce((masked, secret) => masked.replaceAll(secret, MASK), text)
}

/** A mask to which secrets can be added. None is removed: a secret that is no longer configured may still occur. */
export type SecretsMask = { mask: Mask; add: (secrets: readonly string[]) => void }

/** @param secrets the secrets that it knows from the start */
export function secretsMask(secrets: readonly string[]): SecretsMask {
  const known = new Set<string>()
  let current = maskSecrets([])
  const add = (more: readonly string[]) => {
    for (const secret of more) known.add(secret)
    current = maskSecrets([...known].toSorted((a, b) => b.length - a.length))
  }
  add(secrets)
  return { mask: (text) => current(text), add }
}
