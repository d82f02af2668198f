/** The cross-check of a map that cannot do without a secret: it stands there, or its file is named. */
export function missingSecret<Key extends string>(key: Key, what: string) {
  return (
    map: { readonly [K in Key | `${Key}_file`]?: unknown },
    report: (path: string[], message: string) => void,
  ): void => {
    if (map[key] !== undefined || map[`${key}_file`] !== undefined) return
    report([key], `missing; expected ${what}, or the name of a file that holds it in \`${key}_file\``)
  }
}
