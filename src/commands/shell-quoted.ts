/** A text as one argument on the command line of a POSIX shell. */
export function shellQuoted(text: string): string {
  return /^[\w.:/@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
