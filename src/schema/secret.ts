import { z } from 'zod'

/** What there is to know of a secret. */
export type Secret = {
  /** What it is, in a sentence: `the webhook`. */
  of: string
  /** What it is for; its key's description. */
  about: string
  /** The variable that fills the key where the file leaves it out, and the one that names its file instead. */
  variable?: string
  fileVariable?: string
  /** A variable of the user's own, as an example of how to keep the secret out of the file; else `variable`. */
  example?: string
  /** Where not all of the value is secret: the value without what is, and what is, in every spelling. */
  partly?: { masked: (value: string, mask: string) => string; secretsIn: (value: string) => string[] }
}

/** Every schema whose value must never be shown. */
export const secrets = z.registry<Secret>()

/**
 * A secret. As the entry `x` of a section it brings the key `x_file` along, which names a file that holds it instead, and
 * the check that it is given in one of the two ways, unless it is optional (section.ts). It is read from there and
 * from its variables, and masked wherever the configuration is shown (config).
 */
export function secret(value: z.ZodString, known: Secret): z.ZodString {
  return value.register(secrets, known)
}
